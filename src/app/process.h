// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>

#include "app/child.h"
#include "base/result.h"

namespace everywatt::app {

// A process as its keeper needs it: a child of ours, or one that a test makes up, which may refuse
// to die. Destroying it kills it, if that is possible.
class Process {
 public:
  virtual ~Process() = default;
  virtual pid_t pid() const = 0;
  // Readable when it has ended: for poll. -1: there is nothing to poll.
  virtual int fd() const = 0;
  virtual void signal(int number) = 0;
  // Its ending, once; waits at most that long. Nothing: it still runs.
  virtual std::optional<Ending> wait_for(int timeout_ms) = 0;
};

class ChildProcess : public Process {
 public:
  static base::Result<std::unique_ptr<Process>> start(const ChildOptions& options) {
    auto child = Child::start(options);
    if (!child) return std::unexpected(std::move(child.error()));
    return std::unique_ptr<Process>(new ChildProcess(*std::move(child)));
  }

  pid_t pid() const override { return child_.pid(); }
  int fd() const override { return child_.fd(); }
  void signal(int number) override { child_.signal(number); }
  std::optional<Ending> wait_for(int timeout_ms) override { return child_.wait_for(timeout_ms); }

 private:
  explicit ChildProcess(Child child) : child_(std::move(child)) {}

  Child child_;
};

}  // namespace everywatt::app
