// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <time.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "serve/notify/channel_options.h"
#include "serve/notify/notification.h"
#include "serve/notify/payload.h"

// What the tests of this room share.
namespace everywatt::notify {

// 2026-12-02 06:05:07 UTC
inline constexpr std::int64_t kStart_ns = 1'796'191'507'000'000'000;
inline constexpr std::int64_t kMinute_ns = 60'000'000'000;

// Times are written in the machine's zone: here it is the one of Shanghai, also without tzdata.
class Zone {
 public:
  explicit Zone(const char* name = "CST-8") {
    ::setenv("TZ", name, 1);
    ::tzset();
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;
  ~Zone() {
    ::unsetenv("TZ");
    ::tzset();
  }
};

inline Alert make_alert(std::string name, std::string severity, std::string gpu,
                        AlertState state = AlertState::kFiring) {
  Alert alert;
  alert.state = state;
  alert.labels = {{"alertname", std::move(name)},
                  {"severity", std::move(severity)},
                  {"gpu", std::move(gpu)},
                  {"instance", "node-1:9400"},
                  {"job", "dcgm"}};
  alert.starts_at_ns = kStart_ns;
  if (state == AlertState::kResolved) alert.ends_at_ns = kStart_ns + 12 * kMinute_ns;
  alert.fingerprint = "5ef77f1f8a3ecf8d";
  return alert;
}

inline Notification make_notification(std::vector<Alert> alerts) {
  Notification notification;
  notification.group_key = "{}:{instance=\"node-1:9400\"}";
  notification.receiver = "ops";
  notification.group_labels = {{"instance", "node-1:9400"}};
  notification.common_labels = {{"instance", "node-1:9400"}, {"job", "dcgm"}};
  notification.external_url = "http://alertmanager:9093";
  notification.alerts = std::move(alerts);
  return notification;
}

// The memory alert of the mission, and one that is over.
inline Notification memory_notification() {
  Alert memory = make_alert("GpuMemoryHigh", "warning", "0");
  memory.annotations = {{"summary", "GPU 0 of node-1:9400: memory nearly full"},
                        {"description", "instance node-1:9400 GPU 0 memory use at 96 %"},
                        {"value", "96 %"},
                        {"runbook_url", "https://runbooks.example/gpu-memory"}};
  memory.generator_url = "http://prometheus:9090/graph?g0.expr=avg+by+(gpu)+(x)&g0.tab=1";
  Alert hot = make_alert("GpuHot", "critical", "1", AlertState::kResolved);
  hot.annotations = {{"summary", "GPU 1 is at 91 °C"}};
  return make_notification({hot, memory});
}

// `count` alerts whose names tell them apart.
inline Notification storm(std::size_t count, std::size_t description_bytes = 120) {
  std::vector<Alert> alerts;
  for (std::size_t i = 0; i < count; ++i) {
    alerts.push_back(make_alert(fmt::format("Storm{:04}x", i), i % 7 == 0 ? "critical" : "warning",
                                fmt::format("{}", i % 8)));
    alerts.back().annotations["description"] = std::string(description_bytes, 'd');
  }
  return make_notification(std::move(alerts));
}

inline ChannelOptions make_options(ChannelType type, Language language = Language::kEnglish) {
  ChannelOptions options{.name = "ops", .type = type, .language = language};
  if (type == ChannelType::kMail) {
    options.url = "smtp://mail.example:587";
    options.from = "everywatt@example.com";
    options.to = {"ops@example.com", "night@example.com"};
  } else {
    options.url_source.file = "/nowhere/ops.url";
  }
  return options;
}

// The golden texts are what people get to read: EVERYWATT_UPDATE_GOLDEN=1 writes them anew, and the
// difference is then read by people.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(EVERYWATT_SOURCE_DIR) + "/src/serve/notify/golden/" + name;
  if (std::getenv("EVERYWATT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(base::write_file_atomically(path, text, 0644));
  }
  const auto golden = base::read_file(path);
  ASSERT_TRUE(golden) << golden.error().message;
  EXPECT_EQ(*golden, text) << name;
}

// A folder that goes with its test.
class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "everywatt-notify-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string write(const std::string& name, const std::string& content) const {
    const std::string file = path_ + "/" + name;
    EXPECT_TRUE(base::write_file_atomically(file, content, 0600));
    return file;
  }

 private:
  std::string path_;
};

}  // namespace everywatt::notify
