// SPDX-License-Identifier: Apache-2.0
#include "serve/web/live_view.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <utility>

namespace everywatt::web {

LiveView::LiveView(view::Options options)
    : options_(std::move(options)), is_live_(!options_.clock) {
  if (is_live_) options_.clock = base::boottime_ns;
}

const view::View* LiveView::get() {
  if (!view_ || !is_current()) reopen();
  return view_.get();
}

// A file whose folder was emptied in between is marked by nobody as replaced, so its name is looked
// at as well. While nothing has the name, what we have is still the newest there is.
bool LiveView::is_current() const {
  if (view_->is_replaced()) return false;
  struct stat named{};
  struct stat ours{};
  if (::stat(options_.recorder_path.c_str(), &named) != 0) return true;
  if (::fstat(view_->recorder().fd(), &ours) != 0) return true;
  return named.st_ino == ours.st_ino && named.st_dev == ours.st_dev;
}

void LiveView::reopen() {
  auto opened = view::View::open(options_);
  if (!opened) {
    error_ = std::move(opened.error());
    return;
  }
  if (is_live_ && !(*opened)->recorder().is_of_this_boot()) {
    error_ = {.code = base::Code::kUnavailable,
              .message =
                  fmt::format("{} is from before the machine's last start", options_.recorder_path),
              .hint = {}};
    return;
  }
  view_ = std::move(*opened);
  ++generation_;
}

}  // namespace everywatt::web
