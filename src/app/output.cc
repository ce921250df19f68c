// SPDX-License-Identifier: Apache-2.0
#include "app/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "app/exit_code.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

constexpr std::size_t kLineLimitBytes = 2000;

// 0, or the error's number.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return 0;
}

}  // namespace

void print(std::string_view text) {
  const int error_number = write_all(STDOUT_FILENO, text);
  if (error_number == 0) return;
  // Not exit(): threads of an own reading may still be at work.
  if (error_number == EPIPE) ::_exit(kFine);
  print_error(base::fail_errno("write to", "the standard output", error_number).error());
  ::_exit(kUnavailable);
}

void print_error(const base::Error& error) {
  print_note(error.hint.empty() ? error.message : error.message + "; " + error.hint);
}

void print_note(std::string_view line) {
  write_all(STDERR_FILENO, fmt::format("everywatt: {}\n", base::clean_text(line, kLineLimitBytes)));
}

Emphasis stdout_emphasis() {
  const char* no_colour = std::getenv("NO_COLOR");
  const bool is_wanted = no_colour == nullptr || *no_colour == '\0';
  return is_wanted && ::isatty(STDOUT_FILENO) == 1 ? Emphasis::kHeadings : Emphasis::kNone;
}

}  // namespace everywatt::app
