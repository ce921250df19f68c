// SPDX-License-Identifier: Apache-2.0
#include "app/source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/messages.h"
#include "app/output.h"
#include "app/own_reading.h"
#include "app/run_folder.h"
#include "base/file.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

// A part says that it works once a second.
constexpr std::int64_t kHeartbeatLimitNs = 5'000'000'000;

// Below /tmp anybody may have put a folder under our name.
bool is_trusted(const std::string& folder) {
  struct stat about{};
  if (::lstat(folder.c_str(), &about) != 0) return true;  // opening will say it better
  return !folder.starts_with("/tmp/") || about.st_uid == ::geteuid() || about.st_uid == 0;
}

base::Result<Source> open_file(const std::string& path) {
  auto opened = view::View::open({.recorder_path = path});
  if (!opened) return std::unexpected(opened.error());
  Source source{.kind = SourceKind::kFile, .path = path, .view = *std::move(opened)};
  if (is_live(source.view->recorder(), base::boottime_ns())) {
    auto live = view::View::open({.recorder_path = path, .clock = base::boottime_ns});
    if (!live) return std::unexpected(live.error());
    source.view = *std::move(live);
  }
  return source;
}

// The first folder whose recorder is live, else the first that has one.
base::Result<Source> open_run_folder(const RunFolderSources& sources) {
  const std::vector<std::string> folders = run_folders_to_search(sources);
  base::Result<Source> old =
      base::fail(base::Code::kUnavailable,
                 fmt::format("no daemon runs (looked in {})", fmt::join(folders, ", ")),
                 "start one with 'everywatt serve', or read a recording with --recorder FILE");
  for (const std::string& folder : folders) {
    if (!is_trusted(folder)) continue;
    const std::string path = recorder_folder(folder) + "/" + std::string(kRecorderName);
    auto source = open_file(path);
    if (!source) {
      // What is there and cannot be read says more than that nothing is there.
      if (source.error().code != base::Code::kNotFound && !old) old = std::move(source);
      continue;
    }
    if (is_live(source->view->recorder(), base::boottime_ns())) {
      source->kind = SourceKind::kDaemon;
      return source;
    }
    if (!old) old = std::move(source);
  }
  return old;
}

base::Result<Source> read_by_itself(const Arguments& arguments, const Config& config) {
  print_note(text(arguments.language, Message::no_daemon_own_reading));
  auto view = read_once(config);
  if (!view) return std::unexpected(view.error());
  return Source{.kind = SourceKind::kOwnReading, .path = {}, .view = *std::move(view)};
}

}  // namespace

bool is_live(const recorder::Reader& reader, std::int64_t now_ns) {
  if (reader.source() != recorder::Source::kLive || reader.closed_ns() != 0) return false;
  const auto boot_id = base::read_file("/proc/sys/kernel/random/boot_id", 64);
  if (!boot_id || base::trim(*boot_id) != reader.boot_id()) return false;
  const auto heartbeat_ns =
      static_cast<std::int64_t>(reader.part(recorder::Part::kSupervisor).heartbeat_ns.load());
  return now_ns - heartbeat_ns < kHeartbeatLimitNs;
}

base::Status check_replaceable(const std::string& path) {
  const auto reader = recorder::Reader::open(path);
  if (!reader || !is_live(**reader, base::boottime_ns())) return {};
  return base::fail(base::Code::kInvalidArgument,
                    fmt::format("{} is the recorder of a running daemon", path),
                    "name another file to write");
}

base::Result<std::string> find_daemon(const Config& config) {
  const auto folders = run_folders_to_search(run_folder_sources(config.run_folder));
  for (const std::string& folder : folders) {
    if (!is_trusted(folder)) continue;
    const auto reader =
        recorder::Reader::open(recorder_folder(folder) + "/" + std::string(kRecorderName));
    if (reader && is_live(**reader, base::boottime_ns())) return folder;
  }
  return base::fail(base::Code::kUnavailable,
                    fmt::format("no daemon runs (looked in {})", fmt::join(folders, ", ")),
                    "start one with: everywatt serve");
}

base::Result<Source> find_source(const Arguments& arguments, const Config& config) {
  if (!arguments.recorder.empty()) {
    auto source = open_file(arguments.recorder);
    // A file that the user named is input.
    if (!source && source.error().code == base::Code::kNotFound) {
      source.error().code = base::Code::kInvalidArgument;
    }
    return source;
  }
  if (!arguments.nvml_library.empty() || !arguments.host_root.empty()) {
    return base::fail(base::Code::kUnavailable, "a library or a root was named");
  }
  return open_run_folder(run_folder_sources(config.run_folder));
}

base::Result<Source> open_source(const Arguments& arguments, const Config& config,
                                 NoDaemon no_daemon) {
  auto found = find_source(arguments, config);
  if (found && (found->kind == SourceKind::kDaemon || !arguments.recorder.empty())) return found;
  const bool is_worth_telling = !found && found.error().code != base::Code::kUnavailable;
  if (is_worth_telling) return found;
  if (no_daemon == NoDaemon::kReadOnce) return read_by_itself(arguments, config);
  if (!found) return found;
  const view::View& view = *found->view;
  if (no_daemon == NoDaemon::kShowOld) {
    print_note(say(arguments.language, Message::no_daemon_old, found->path,
                   base::format_time(view.wall_ns(view.last_row_ns()))));
    return found;
  }
  return base::fail(base::Code::kUnavailable,
                    fmt::format("no daemon runs; {} is what the last one left", found->path),
                    fmt::format("start one with 'everywatt serve', or read that with --recorder {}",
                                found->path));
}

}  // namespace everywatt::app
