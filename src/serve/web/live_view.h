// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "read/view/view.h"

namespace everywatt::web {

// The view of the recorder file that has the name now: opened when it appears, and anew when
// another takes its place. Belongs to one thread.
class LiveView {
 public:
  // A live file of another boot is not shown: its times mean nothing here. An empty clock: live.
  explicit LiveView(view::Options options);

  // Valid until the next call; null: there is none, and error() says why. One stat() a call.
  const view::View* get();
  const base::Error& error() const { return error_; }
  // Another one a file.
  std::uint64_t generation() const { return generation_; }

 private:
  bool is_current() const;
  void reopen();

  view::Options options_;
  bool is_live_ = false;
  std::unique_ptr<view::View> view_;
  base::Error error_;
  std::uint64_t generation_ = 0;
};

}  // namespace everywatt::web
