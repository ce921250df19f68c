// SPDX-License-Identifier: Apache-2.0
#include "device/sim/host_trace.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "base/text.h"
#include "device/trace/csv.h"

namespace everywatt::sim {
namespace {

constexpr std::array<std::string_view, 14> kColumns = {
    "t_ms",    "cpu_user",   "cpu_sys",      "cpu_iowait", "cpu_idle",
    "ncpu",    "main_state", "main_cpu_pct", "children",   "children_cpu_pct",
    "threads", "rss_kb",     "read_bytes",   "write_bytes"};
enum Place {
  kTime,
  kUser,
  kSystem,
  kIowait,
  kIdle,
  kCpus,
  kState,
  kMain,
  kChildren,
  kChildrenCpu,
  kThreads,
  kRss,
  kRead,
  kWrite
};
using Numbers = std::array<double, kColumns.size()>;

// What a column can hold. A player writes a line for each CPU and a folder for each child, so a
// damaged number must not become a million of them.
constexpr double kMaxMs = 3'600'000;
constexpr double kMaxCpus = 4'096;
constexpr double kMaxChildren = 1'024;
constexpr double kMaxNumber = 1e15;  // a petabyte, and whole numbers are exact below it
bool is_possible(std::size_t column, double number) {
  switch (column) {
    case kTime:
      return number >= 0 && number <= kMaxMs;
    case kCpus:
      return number >= 1 && number <= kMaxCpus;
    case kChildren:
      return number >= 0 && number <= kMaxChildren;
    default:
      return number >= 0 && number <= kMaxNumber;
  }
}

constexpr std::int64_t kRowNs = 100'000'000;
// Above this share of busy CPUs, some task usually waits for one.
constexpr double kCrowded = 0.85;

// Shares of time in which somebody waited, guessed from what was recorded: a crowded machine, a
// main process in uninterruptible sleep, CPUs that wait for storage.
double cpu_stall_share(const Numbers& row) {
  const double busy = (row[kUser] + row[kSystem]) / 100;
  return std::clamp((busy - kCrowded) / (1 - kCrowded), 0.0, 1.0) / 2;
}
double io_stall_share(const Numbers& row, char state) {
  const double waiting = std::min(1.0, row[kIowait] / 100 * row[kCpus]);
  return state == 'D' ? std::max(waiting, 0.5) : waiting;
}

void append_row(HostTrace& trace, const Numbers& row, char state) {
  const auto at_ns = static_cast<std::int64_t>(std::llround(row[kTime] * 1e6));
  const auto at_us = static_cast<std::uint32_t>(at_ns / 1000);
  trace.cpus = static_cast<unsigned>(row[kCpus]);
  trace.user.append(at_ns, row[kUser] / 100 * row[kCpus]);
  trace.system.append(at_ns, row[kSystem] / 100 * row[kCpus]);
  trace.iowait.append(at_ns, row[kIowait] / 100 * row[kCpus]);
  trace.idle.append(at_ns, row[kIdle] / 100 * row[kCpus]);
  trace.cpu_stall.append(at_ns, cpu_stall_share(row));
  trace.io_stall.append(at_ns, io_stall_share(row, state));
  trace.main.append(at_ns, row[kMain] / 100);
  trace.worker.append(at_ns, row[kChildren] > 0 ? row[kChildrenCpu] / 100 / row[kChildren] : 0);
  trace.state.append(at_us, state);
  trace.children.append(at_us, std::llround(row[kChildren]));
  trace.threads.append(at_us, std::llround(row[kThreads]));
  trace.rss_kb.append(at_us, std::llround(row[kRss]));
  trace.read_bytes.append(at_us, std::llround(row[kRead]));
  trace.write_bytes.append(at_us, std::llround(row[kWrite]));
  trace.end_ns = at_ns + kRowNs;
}

void append_idle(HostTrace& trace, std::int64_t last_ns) {
  const std::int64_t from_ns = std::max<std::int64_t>(0, trace.end_ns - kRowNs);
  if (from_ns >= last_ns) return;
  for (Ramp* ramp : {&trace.user, &trace.system, &trace.iowait, &trace.cpu_stall, &trace.io_stall,
                     &trace.main, &trace.worker}) {
    ramp->append(last_ns, 0);
  }
  trace.idle.append(last_ns, trace.cpus);
}

}  // namespace

base::Result<HostTrace> read_host_trace(const std::string& stem, std::int64_t last_ns) {
  HostTrace trace;
  const std::string path = stem + ".host.csv.gz";
  if (access(path.c_str(), F_OK) != 0) {
    append_idle(trace, last_ns);
    return trace;
  }
  const base::Result<trace::Csv> csv = trace::Csv::read(path);
  if (!csv) return std::unexpected(csv.error());
  std::array<std::size_t, kColumns.size()> columns{};
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const base::Result<std::size_t> column = csv->column(kColumns[i]);
    if (!column) return std::unexpected(column.error());
    columns[i] = *column;
  }
  double last_ms = 0;
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    Numbers numbers{};
    const std::string_view state = csv->cell(row, columns[kState]);
    if (state.size() != 1 || state[0] < 'A' || state[0] > 'z') {
      return csv->fail_at(row, "main_state is not one letter");
    }
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (i == kState) continue;
      const std::optional<double> value = base::parse_f64(csv->cell(row, columns[i]));
      if (!value || !is_possible(i, *value)) {
        return csv->fail_at(row, std::string(kColumns[i]) + " is not a number that it can be");
      }
      numbers[i] = *value;
    }
    if (numbers[kTime] < last_ms) return csv->fail_at(row, "t_ms falls");
    last_ms = numbers[kTime];
    append_row(trace, numbers, state[0]);
  }
  append_idle(trace, last_ns);
  return trace;
}

}  // namespace everywatt::sim
