// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "read/view/view.h"

namespace everywatt::remote_write {

// The view of the recorder file of this boot that has the name now. One thread.
class LiveRecorder {
 public:
  explicit LiveRecorder(std::string path) : path_(std::move(path)) {}

  // Null: there is none yet, or none that may be read. Valid until the next open().
  view::View* get() const { return view_.get(); }
  // Another file has the name, or there is no view yet: open() would give another one.
  bool is_outdated() const;
  // Keeps the view that it has when there is no better one. Says in the log once why there is none.
  void open();

 private:
  std::string path_;
  std::unique_ptr<view::View> view_;
  std::string logged_;
};

}  // namespace everywatt::remote_write
