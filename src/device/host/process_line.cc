// SPDX-License-Identifier: Apache-2.0
#include "device/host/process_line.h"

#include <array>
#include <limits>

#include "base/text.h"
#include "device/host/clock_ticks.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

// Numbers of proc(5), less the three before them.
constexpr std::size_t kParent = 4 - 4;
constexpr std::size_t kUserTicks = 14 - 4;
constexpr std::size_t kSystemTicks = 15 - 4;
constexpr std::size_t kChildrenUserTicks = 16 - 4;
constexpr std::size_t kChildrenSystemTicks = 17 - 4;
constexpr std::size_t kThreads = 20 - 4;
constexpr std::size_t kStart = 22 - 4;
constexpr std::size_t kResident = 24 - 4;

std::unexpected<base::Error> corrupt(std::string_view what) {
  return base::fail(base::Code::kCorrupt, "/proc/PID/stat: " + std::string(what));
}

}  // namespace

base::Result<ProcessLine> parse_process_line(std::string_view text) {
  ProcessLine line;
  const auto open = text.find(" (");
  // A name may hold brackets, blanks and line ends; what follows it is numbers and one letter. So
  // the last bracket ends it.
  const auto close = text.rfind(") ");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 2) {
    return corrupt("no name");
  }
  const auto pid = base::parse_u64(text.substr(0, open));
  if (!pid || *pid > std::numeric_limits<std::uint32_t>::max()) return corrupt("no pid");
  line.pid = static_cast<std::uint32_t>(*pid);
  line.name = text.substr(open + 2, close - open - 2);
  std::string_view rest = text.substr(close + 2);
  const std::string_view state = take_word(rest);
  if (state.size() != 1) return corrupt("no state");
  line.state = state.front();
  std::array<std::uint64_t, kResident + 1> numbers{};
  for (std::uint64_t& number : numbers) {
    const std::string_view word = take_word(rest);
    if (word.empty()) return corrupt("too short");
    // Some are negative (terminal, priority); none that we use.
    number = base::parse_u64(word).value_or(0);
  }
  line.parent = static_cast<std::uint32_t>(numbers[kParent]);
  line.user_seconds = ticks_to_seconds(numbers[kUserTicks]);
  line.system_seconds = ticks_to_seconds(numbers[kSystemTicks]);
  line.ended_children_seconds = ticks_to_seconds(numbers[kChildrenUserTicks]) +
                                ticks_to_seconds(numbers[kChildrenSystemTicks]);
  line.threads = static_cast<std::uint32_t>(numbers[kThreads]);
  line.start_ticks = numbers[kStart];
  line.resident_pages = numbers[kResident];
  return line;
}

}  // namespace everywatt::host
