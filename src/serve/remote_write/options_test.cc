// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

namespace everywatt::remote_write {
namespace {

Options good() {
  return {.name = "central", .url = "https://metrics.example/api/v1/write"};
}

TEST(CheckOptions, TakesWhatIsRight) {
  EXPECT_TRUE(check_options(good()));
  for (const double seconds : {0.1, 0.25, 0.5, 1.0, 2.0, 10.0, 3600.0}) {
    Options options = good();
    options.step_ns = static_cast<std::int64_t>(seconds * 1e9);
    EXPECT_TRUE(check_options(options)) << seconds;
  }
  Options options = good();
  options.username = "gpu";
  options.password.file = "/etc/everywatt/password";
  options.metrics = {"gpu_*", "node_memory_used_bytes", "*"};
  options.labels = {{"cluster", "a"}, {"instance", ""}, {"zone_1", "\xe5\x8c\x97"}};
  EXPECT_TRUE(check_options(options));
}

TEST(CheckOptions, NamesTheKeyThatIsWrong) {
  const std::pair<const char*, std::function<void(Options&)>> cases[] = {
      {"a name", [](Options& options) { options.name = "Central"; }},
      {"a name", [](Options& options) { options.name = ".."; }},
      {"a name", [](Options& options) { options.name = std::string(33, 'a'); }},
      {"url", [](Options& options) { options.url = "ftp://x"; }},
      {"url", [](Options& options) { options.url = "http://x\r\nA: b"; }},
      {"tenant", [](Options& options) { options.tenant = "a\nb"; }},
      {"names", [](Options& options) { options.names = 0; }},
      {"metrics", [](Options& options) { options.metrics = {"gpu_*_watts"}; }},
      {"metrics", [](Options& options) { options.metrics = {""}; }},
      {"step_seconds", [](Options& options) { options.step_ns = 99'000'000; }},
      {"step_seconds", [](Options& options) { options.step_ns = 3'601'000'000'000; }},
      {"step_seconds", [](Options& options) { options.step_ns = 1'500'000'000; }},
      {"step_seconds", [](Options& options) { options.step_ns = 100'000'001; }},
      {"queue_megabytes", [](Options& options) { options.queue_bytes = 1000; }},
      {"password", [](Options& options) { options.password.env = "P"; }},
      {"token",
       [](Options& options) {
         options.username = "u";
         options.token.env = "T";
       }},
      {"cert_file", [](Options& options) { options.cert_file = "c.pem"; }},
      {"labels", [](Options& options) { options.labels = {{"__name__", "x"}}; }},
      {"labels", [](Options& options) { options.labels = {{"1a", "x"}}; }},
      {"labels", [](Options& options) { options.labels = {{"a-b", "x"}}; }},
      {"labels", [](Options& options) { options.labels = {{"a", "x"}, {"a", "y"}}; }},
      {"labels", [](Options& options) { options.labels = {{"a", "\xff"}}; }},
  };
  for (const auto& [key, spoil] : cases) {
    Options options = good();
    spoil(options);
    const auto checked = check_options(options);
    ASSERT_FALSE(checked) << key;
    EXPECT_TRUE(checked.error().message.starts_with(key)) << checked.error().message;
  }
}

}  // namespace
}  // namespace everywatt::remote_write
