// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

#include "base/text.h"

namespace everywatt::base {
namespace {

// Process-wide because stderr is: set before the first thread starts.
std::array<char, 24> role{};
std::atomic<LogLevel> most_detailed{LogLevel::kNotice};

constexpr std::size_t kLineLimitBytes = 2000;

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kError:
      return "error: ";
    case LogLevel::kWarning:
      return "warning: ";
    case LogLevel::kNotice:
    case LogLevel::kDebug:
      return "";
  }
  return "";
}

// A pipe that nobody empties would hold up whoever writes for as long; a lost line harms less. The
// descriptor is shared with others, so that O_NONBLOCK cannot be set on it.
bool takes_a_line() {
  pollfd place{.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&place, 1, 0) == 1 && (place.revents & POLLOUT) != 0;
}

}  // namespace

void log(LogLevel level, std::string_view text) {
  if (level > most_detailed.load(std::memory_order_relaxed)) return;
  const std::string_view who(role.data());
  const std::string line =
      fmt::format("everywatt{}{}{}: {}{}\n", who.empty() ? "" : "[", who, who.empty() ? "" : "]",
                  level_name(level), clean_text(text, kLineLimitBytes));
  if (!takes_a_line()) return;
  // One write a line: lines of several processes on the same stderr do not mix.
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line.data(), line.size());
}

void set_log_role(std::string_view name) {
  role.fill('\0');
  name.copy(role.data(), role.size() - 1);
}

void set_log_level(LogLevel level) {
  most_detailed.store(level, std::memory_order_relaxed);
}

}  // namespace everywatt::base
