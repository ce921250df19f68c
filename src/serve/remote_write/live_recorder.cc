// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/live_recorder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"

namespace everywatt::remote_write {

// A file whose folder was emptied in between is marked by nobody as replaced.
bool LiveRecorder::is_outdated() const {
  if (!view_ || view_->is_replaced()) return true;
  struct stat named{};
  struct stat ours{};
  if (::stat(path_.c_str(), &named) != 0) return false;
  if (::fstat(view_->recorder().fd(), &ours) != 0) return false;
  return named.st_ino != ours.st_ino || named.st_dev != ours.st_dev;
}

void LiveRecorder::open() {
  auto opened = view::View::open({.recorder_path = path_, .clock = base::boottime_ns});
  std::string why;
  if (!opened) why = opened.error().message;
  if (opened && !(*opened)->recorder().is_of_this_boot()) {
    why = fmt::format("{} is from before the machine's last start", path_);
  }
  if (why.empty()) {
    view_ = std::move(*opened);
    // Only a lasting absence is worth a line: at the start the file comes when it comes.
    logged_.clear();
    return;
  }
  if (why == logged_) return;
  logged_ = why;
  base::log(base::LogLevel::kDebug, fmt::format("remote write waits: {}", why));
}

}  // namespace everywatt::remote_write
