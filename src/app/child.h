// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::app {

struct ChildOptions {
  std::string program = "/proc/self/exe";
  std::vector<std::string> arguments;  // the first is the name that `ps` shows
  // Descriptors that the child gets under the numbers kFirstChildFd, +1, ... in this order; at most
  // kMostChildFds.
  std::vector<int> descriptors;
  std::vector<std::pair<std::string, std::string>> environment = {};  // beside ours
  int stderr_fd = -1;                                                 // -1: ours
};
inline constexpr int kFirstChildFd = 3;
inline constexpr std::size_t kMostChildFds = 8;

// How a process ended.
struct Ending {
  int exit_status = 0;  // 128 + the signal for one that was killed
  std::string text;     // "exit status 1", "killed by signal 9 (Killed)"
};

// A process that we started. It is killed when we end, however we end, and when this is destroyed.
// Move-only. start() belongs to the thread that lives longest: the kernel watches that thread.
class Child {
 public:
  static base::Result<Child> start(const ChildOptions& options);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();

  pid_t pid() const { return pid_; }
  // Readable when it has ended: for poll.
  int fd() const { return pidfd_.get(); }
  void signal(int number);
  // Its ending, once; nothing while it runs.
  std::optional<Ending> try_wait();
  // Waits at most that long. Nothing: it still runs.
  std::optional<Ending> wait_for(int timeout_ms);

 private:
  Child(pid_t pid, base::UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}

  pid_t pid_ = 0;  // 0: it has been waited for
  base::UniqueFd pidfd_;
};

Ending describe_ending(int wait_status);

// Of a child of ours, at its start and after each change of its rights: have the kernel kill it
// when its parent, which is `parent`, ends. False: it has ended already.
bool die_with_parent(pid_t parent);

}  // namespace everywatt::app
