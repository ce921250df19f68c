// SPDX-License-Identifier: Apache-2.0
#include "app/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <array>
#include <cstring>

#include "base/check.h"

extern char** environ;

namespace everywatt::app {
namespace {

// What exec needs, made before the fork: after it nothing may allocate.
struct ExecImage {
  explicit ExecImage(const ChildOptions& options) {
    for (const std::string& argument : options.arguments) {
      arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    for (const auto& [name, value] : options.environment) {
      added.push_back(fmt::format("{}={}", name, value));
    }
    for (char** variable = environ; *variable != nullptr; ++variable) {
      if (!is_replaced(*variable, options)) environment.push_back(*variable);
    }
    for (std::string& variable : added) {
      environment.push_back(variable.data());
    }
    environment.push_back(nullptr);
  }

  static bool is_replaced(std::string_view variable, const ChildOptions& options) {
    for (const auto& [name, value] : options.environment) {
      if (variable.starts_with(name) && variable.substr(name.size()).starts_with('=')) return true;
    }
    return false;
  }

  std::vector<std::string> added;
  std::vector<char*> arguments;
  std::vector<char*> environment;
};

// First out of the way of the final numbers, then into place: the lists may overlap.
bool place_descriptors(const std::vector<int>& descriptors) {
  std::array<int, kMostChildFds> moved{};
  const int count = static_cast<int>(descriptors.size());
  for (int i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(i);
    moved[place] = ::fcntl(descriptors[place], F_DUPFD, kFirstChildFd + count);
    if (moved[place] < 0) return false;
  }
  for (int i = 0; i < count; ++i) {
    if (::dup2(moved[static_cast<std::size_t>(i)], kFirstChildFd + i) < 0) return false;
  }
  // Everything else stays ours.
  return ::syscall(SYS_close_range, kFirstChildFd + count, ~0U, 0) == 0;
}

[[noreturn]] void become(const ChildOptions& options, const ExecImage& image, pid_t parent) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // A terminal's Ctrl-C and its end reach us all; the supervisor alone decides what they mean.
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGHUP, SIG_IGN);
  if (options.stderr_fd >= 0) ::dup2(options.stderr_fd, STDERR_FILENO);
  if (die_with_parent(parent) && place_descriptors(options.descriptors)) {
    ::execve(options.program.c_str(), image.arguments.data(), image.environment.data());
  }
  ::_exit(127);
}

}  // namespace

bool die_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  return ::getppid() == parent;
}

base::Result<Child> Child::start(const ChildOptions& options) {
  CHECK(options.descriptors.size() <= kMostChildFds);
  const ExecImage image(options);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return base::fail_errno("start", options.arguments.front());
  if (pid == 0) become(options, image, parent);
  base::UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd.is_open()) {
    const int error_number = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return base::fail_errno("watch", options.arguments.front(), error_number);
  }
  return Child(pid, std::move(pidfd));
}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)), pidfd_(std::move(other.pidfd_)) {}

Child& Child::operator=(Child&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

Child::~Child() {
  if (pid_ == 0) return;
  signal(SIGKILL);
  // One that cannot be killed is left to the kernel.
  constexpr int kPatienceMs = 100;
  wait_for(kPatienceMs);
}

void Child::signal(int number) {
  if (pid_ != 0) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

std::optional<Ending> Child::try_wait() {
  if (pid_ == 0) return std::nullopt;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = 0;
  return describe_ending(status);
}

std::optional<Ending> Child::wait_for(int timeout_ms) {
  pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  while (::poll(&ended, 1, timeout_ms) < 0 && errno == EINTR) {
  }
  return try_wait();
}

Ending describe_ending(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int number = WTERMSIG(wait_status);
    return {.exit_status = 128 + number,
            .text = fmt::format("killed by signal {} ({})", number, ::strsignal(number))};
  }
  const int status = WEXITSTATUS(wait_status);
  return {.exit_status = status, .text = fmt::format("exit status {}", status)};
}

}  // namespace everywatt::app
