// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "serve/notify/payload.h"

namespace everywatt::notify {
namespace {

using nlohmann::json;

constexpr std::size_t kFileLimitBytes = 256u << 20;
constexpr std::size_t kSetAsideLimit = 100;

base::Status make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return {};
  return base::fail_errno("make", path);
}

base::Status write_synced(const std::string& path, std::string_view content) {
  base::UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!fd.is_open()) return base::fail_errno("create", path);
  while (!content.empty()) {
    const ssize_t put = ::write(fd.get(), content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return base::fail_errno("write", path);
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(fd.get()) != 0) return base::fail_errno("sync", path);
  return {};
}

// The numbers of the files NUMBER.json, ascending. What a crash left half-written is removed.
base::Result<std::vector<std::uint64_t>> list(const std::string& folder) {
  std::vector<std::uint64_t> numbers;
  std::error_code error;
  std::filesystem::directory_iterator each(folder, error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::filesystem::path path = each->path();
    if (path.extension() == ".tmp") ::unlink(path.c_str());
    const auto number = base::parse_u64(path.stem().string());
    if (path.extension() == ".json" && number) numbers.push_back(*number);
  }
  if (error) return base::fail_errno("read", folder, error.value());
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

struct Spool::Stored {
  Notification notification;
  std::int64_t accepted_wall_ns = 0;
  std::size_t parts_done = 0;
  std::vector<std::uint64_t> replaces;
};

std::string Spool::path(std::uint64_t number) const {
  return fmt::format("{}/{:012}.json", folder_, number);
}

base::Result<Spool> Spool::open(std::string folder) {
  if (auto made = make_folder(folder); !made) return std::unexpected(made.error());
  if (auto made = make_folder(folder + "/failed"); !made) return std::unexpected(made.error());
  Spool spool(std::move(folder));
  if (auto loaded = spool.load(); !loaded) return std::unexpected(loaded.error());
  return spool;
}

base::Status Spool::load() {
  const auto numbers = list(folder_);
  if (!numbers) return std::unexpected(numbers.error());
  const auto aside = list(folder_ + "/failed");
  // Numbers are never given twice: those set aside keep theirs.
  if (aside && !aside->empty()) next_number_ = aside->back() + 1;
  std::set<std::uint64_t> replaced;
  for (const std::uint64_t number : *numbers) {
    next_number_ = std::max(next_number_, number + 1);
    const auto stored = read_stored(number);
    if (!stored) {
      base::log(base::LogLevel::kWarning, stored.error().message + ": set aside");
      ::rename(path(number).c_str(), fmt::format("{}/{:012}.bad", folder_, number).c_str());
      continue;
    }
    std::error_code error;
    const auto bytes = std::filesystem::file_size(path(number), error);
    found_.push_back(describe(number, *stored, error ? 0 : static_cast<std::size_t>(bytes)));
    replaced.insert(stored->replaces.begin(), stored->replaces.end());
  }
  for (const std::uint64_t number : replaced)
    ::unlink(path(number).c_str());
  std::erase_if(found_, [&](const SpoolItem& item) { return replaced.contains(item.number); });
  return sync_folder();
}

base::Result<Spool::Stored> Spool::read_stored(std::uint64_t number) const {
  const std::string file = path(number);
  const auto text = base::read_file(file, kFileLimitBytes);
  if (!text) return std::unexpected(text.error());
  const json envelope = json::parse(*text, nullptr, false);
  const auto corrupt = [&] {
    return base::fail(base::Code::kCorrupt, fmt::format("{} holds no notification", file));
  };
  if (!envelope.is_object() || !envelope.contains("payload")) return corrupt();
  Stored stored;
  try {
    stored.accepted_wall_ns = envelope.at("accepted_wall_ns").get<std::int64_t>();
    stored.parts_done = envelope.at("parts_done").get<std::size_t>();
    stored.replaces = envelope.at("replaces").get<std::vector<std::uint64_t>>();
  } catch (const json::exception&) {
    return corrupt();
  }
  auto notification = parse_payload(envelope.at("payload").dump());
  if (!notification) return corrupt();
  stored.notification = std::move(*notification);
  return stored;
}

base::Status Spool::sync_folder() const {
  base::UniqueFd fd(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return base::fail_errno("open", folder_);
  if (::fsync(fd.get()) != 0) return base::fail_errno("sync", folder_);
  return {};
}

SpoolItem Spool::describe(std::uint64_t number, const Stored& stored, std::size_t bytes) const {
  return {.number = number,
          .accepted_wall_ns = stored.accepted_wall_ns,
          .parts_done = stored.parts_done,
          .bytes = bytes,
          .alerts = stored.notification.alerts.size(),
          .urgency = is_critical(stored.notification) ? SpoolItem::Urgency::kCritical
                                                      : SpoolItem::Urgency::kNormal};
}

base::Result<SpoolItem> Spool::write(std::uint64_t number, const Stored& stored) {
  const std::string content =
      fmt::format(R"({{"accepted_wall_ns":{},"parts_done":{},"replaces":{},"payload":{}}})",
                  stored.accepted_wall_ns, stored.parts_done, json(stored.replaces).dump(),
                  format_payload(stored.notification));
  const std::string file = path(number);
  const std::string temporary = file.substr(0, file.size() - 4) + "tmp";
  auto written = write_synced(temporary, content);
  if (written && ::rename(temporary.c_str(), file.c_str()) != 0) {
    written = base::fail_errno("rename", temporary);
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return std::unexpected(written.error());
  }
  if (auto synced = sync_folder(); !synced) return std::unexpected(synced.error());
  return describe(number, stored, content.size());
}

base::Result<SpoolItem> Spool::add(const Notification& notification, std::int64_t wall_ns) {
  Stored stored;
  stored.notification = notification;
  stored.accepted_wall_ns = wall_ns;
  return write(next_number_++, stored);
}

base::Result<Notification> Spool::read(const SpoolItem& item) const {
  auto stored = read_stored(item.number);
  if (!stored) return std::unexpected(stored.error());
  return std::move(stored->notification);
}

base::Status Spool::update(const SpoolItem& item) {
  auto stored = read_stored(item.number);
  if (!stored) return std::unexpected(stored.error());
  stored->parts_done = item.parts_done;
  const auto written = write(item.number, *stored);
  if (!written) return std::unexpected(written.error());
  return {};
}

base::Result<SpoolItem> Spool::merge(const std::vector<SpoolItem>& items) {
  std::vector<Notification> notifications;
  std::size_t alerts = 0;
  Stored merged;
  for (const SpoolItem& item : items) {
    auto stored = read_stored(item.number);
    if (!stored) return std::unexpected(stored.error());
    alerts += stored->notification.alerts.size();
    notifications.push_back(std::move(stored->notification));
    merged.replaces.push_back(item.number);
    // As old as its oldest: being put together again and again must not keep it from expiring.
    merged.accepted_wall_ns = merged.replaces.size() == 1
                                  ? stored->accepted_wall_ns
                                  : std::min(merged.accepted_wall_ns, stored->accepted_wall_ns);
  }
  CHECK(alerts <= kAlertsLimit);
  std::vector<const Notification*> pointers;
  for (const Notification& each : notifications)
    pointers.push_back(&each);
  merged.notification = notify::merge(pointers);
  auto written = write(next_number_++, merged);
  if (!written) return written;
  // From here on it stands for them: one that comes back with a crash is removed by load().
  for (const SpoolItem& item : items)
    ::unlink(path(item.number).c_str());
  return written;
}

base::Status Spool::remove(const SpoolItem& item) {
  const std::string file = path(item.number);
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) return base::fail_errno("remove", file);
  return sync_folder();
}

base::Status Spool::set_aside(const SpoolItem& item) {
  const std::string file = path(item.number);
  const std::string aside = fmt::format("{}/failed/{:012}.json", folder_, item.number);
  if (::rename(file.c_str(), aside.c_str()) != 0) return base::fail_errno("rename", file);
  if (const auto kept = list(folder_ + "/failed"); kept && kept->size() > kSetAsideLimit) {
    for (std::size_t i = 0; i < kept->size() - kSetAsideLimit; ++i) {
      ::unlink(fmt::format("{}/failed/{:012}.json", folder_, (*kept)[i]).c_str());
    }
  }
  return sync_folder();
}

}  // namespace everywatt::notify
