// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "record/importer/numbers.h"
#include "record/importer/trace_rows.h"

namespace everywatt::importer {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

enum Column : std::size_t {
  kTime,
  kUser,
  kSystem,
  kIowait,
  kIdle,
  kCpus,
  kState,
  kMainCpu,
  kChildren,
  kChildrenCpu,
  kThreads,
  kResident,
  kRead,
  kWritten,
};

constexpr double kNsPerSecond = 1e9;

// The first process that the GPU lists is the one whose tree the host file follows; nothing where
// none is listed.
struct Followed {
  std::uint64_t pid = 0;
  std::uint64_t identity = 0;
};
std::optional<Followed> find_followed(const TraceRows& rows) {
  for (const Happening& happening : rows.happenings) {
    if (!happening.is_end) return Followed{happening.pid, happening.identity};
  }
  return std::nullopt;
}

// Shares of time become the counters that a machine has: each row tells how the time since the row
// before was spent.
class HostRows {
 public:
  HostRows(const Numbers& numbers, const Place& place, TraceRows& rows)
      : numbers_(numbers), place_(place), rows_(rows) {}

  void add_all() {
    const auto followed = find_followed(rows_);
    for (std::size_t row = 0; row < numbers_.rows(); ++row) {
      const std::int64_t before_ns = row == 0 ? 0 : numbers_.time_ns(row - 1);
      const double seconds = static_cast<double>(numbers_.time_ns(row) - before_ns) / kNsPerSecond;
      add_machine(row, seconds);
      main_cpu_seconds_ += numbers_.at(row, kMainCpu) / 100 * seconds;
      children_cpu_seconds_ += numbers_.at(row, kChildrenCpu) / 100 * seconds;
      if (followed) add_process(row, *followed);
    }
  }

 private:
  void add_machine(std::size_t row, double seconds) {
    rows_.cpus = numbers_.at(row, kCpus);
    const double cpu_seconds = seconds * rows_.cpus / 100;
    moment_.time_ns = place_.start_ns + numbers_.time_ns(row);
    moment_.user_seconds += numbers_.at(row, kUser) * cpu_seconds;
    moment_.system_seconds += numbers_.at(row, kSystem) * cpu_seconds;
    moment_.iowait_seconds += numbers_.at(row, kIowait) * cpu_seconds;
    moment_.idle_seconds += numbers_.at(row, kIdle) * cpu_seconds;
    rows_.machine.push_back(moment_);
  }

  void add_process(std::size_t row, const Followed& followed) {
    Row out(Scope::kNode, Lane::kHostProcess);
    out.time_ns = place_.start_ns + numbers_.time_ns(row);
    out.set(MetricId::host_process_index, std::uint64_t{0});
    out.set(MetricId::host_process_count, std::uint64_t{1});
    out.set(MetricId::host_process_pid, followed.pid);
    out.set(MetricId::host_process_identity, followed.identity);
    out.set(MetricId::host_process_state, static_cast<std::uint64_t>(numbers_.letter(row)));
    out.set(MetricId::host_process_cpu_seconds_total, main_cpu_seconds_);
    out.set(MetricId::host_process_children_cpu_seconds_total, children_cpu_seconds_);
    out.set(MetricId::host_process_threads, numbers_.whole(row, kThreads));
    out.set(MetricId::host_process_resident_bytes, numbers_.whole(row, kResident) * 1024);
    out.set(MetricId::host_process_read_bytes_total, numbers_.whole(row, kRead));
    out.set(MetricId::host_process_written_bytes_total, numbers_.whole(row, kWritten));
    out.set(MetricId::host_process_children, numbers_.whole(row, kChildren));
    rows_.host_process.push_back(std::move(out));
  }

  const Numbers& numbers_;
  const Place& place_;
  TraceRows& rows_;
  MachineMoment moment_;
  double main_cpu_seconds_ = 0;
  double children_cpu_seconds_ = 0;
};

}  // namespace

base::Status add_host_rows(const std::string& stem, const Place& place, TraceRows& rows) {
  const std::string path = stem + ".host.csv.gz";
  if (::access(path.c_str(), F_OK) != 0) return {};
  const auto numbers =
      Numbers::read(path,
                    {"t_ms", "cpu_user", "cpu_sys", "cpu_iowait", "cpu_idle", "ncpu", "main_state",
                     "main_cpu_pct", "children", "children_cpu_pct", "threads", "rss_kb",
                     "read_bytes", "write_bytes"},
                    {.letters = "main_state"});
  if (!numbers) return std::unexpected(numbers.error());
  HostRows(*numbers, place, rows).add_all();
  return {};
}

}  // namespace everywatt::importer
