// SPDX-License-Identifier: Apache-2.0
#include "read/view/host_use.h"

#include <optional>

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;

// Three times the slowest pace of a process's rows.
constexpr std::int64_t kReachNs = 30'000'000'000;
constexpr std::size_t kReachRows = 8192;

// The counters of one row, for the rate over it and the row before.
struct Counters {
  std::int64_t time_ns = 0;
  std::uint64_t identity = 0;
  std::optional<double> cpu, children_cpu, read, children_read, written, children_written;
};

std::optional<double> counter(const Row& row, MetricId id) {
  const catalog::Reading reading = row.reading(id);
  if (!reading.is_ok()) return std::nullopt;
  return catalog::as_double(id, reading);
}

std::optional<std::uint64_t> count(const Row& row, MetricId id) {
  const catalog::Reading reading = row.reading(id);
  if (!reading.is_ok()) return std::nullopt;
  return reading.u64();
}

Counters parse_counters(const Row& row) {
  return {.time_ns = row.time_ns,
          .identity = count(row, MetricId::host_process_identity).value_or(0),
          .cpu = counter(row, MetricId::host_process_cpu_seconds_total),
          .children_cpu = counter(row, MetricId::host_process_children_cpu_seconds_total),
          .read = counter(row, MetricId::host_process_read_bytes_total),
          .children_read = counter(row, MetricId::host_process_children_read_bytes_total),
          .written = counter(row, MetricId::host_process_written_bytes_total),
          .children_written = counter(row, MetricId::host_process_children_written_bytes_total)};
}

HostUse parse_use(const Row& row) {
  HostUse use;
  use.time_ns = row.time_ns;
  use.identity_key = count(row, MetricId::host_process_identity).value_or(0);
  const auto state = count(row, MetricId::host_process_state);
  if (state && *state > ' ' && *state < 127) use.state = static_cast<char>(*state);
  use.threads = count(row, MetricId::host_process_threads);
  use.resident_bytes = count(row, MetricId::host_process_resident_bytes);
  use.children = count(row, MetricId::host_process_children);
  use.children_resident_bytes = count(row, MetricId::host_process_children_resident_bytes);
  return use;
}

// Nothing when either end is missing or the counter fell: that is no rate.
std::optional<double> rate(std::optional<double> before, std::optional<double> after,
                           double seconds) {
  if (!before || !after || *after < *before || seconds <= 0) return std::nullopt;
  return (*after - *before) / seconds;
}

std::optional<double> sum(std::optional<double> own, std::optional<double> children) {
  if (!own) return children;
  return *own + children.value_or(0);
}

void add_rates(HostUse& use, const Counters& before, const Counters& after) {
  const double seconds = static_cast<double>(after.time_ns - before.time_ns) / 1e9;
  use.cpu_cores = rate(before.cpu, after.cpu, seconds);
  use.children_cpu_cores = rate(before.children_cpu, after.children_cpu, seconds);
  use.read_bytes_per_second = sum(rate(before.read, after.read, seconds),
                                  rate(before.children_read, after.children_read, seconds));
  use.written_bytes_per_second =
      sum(rate(before.written, after.written, seconds),
          rate(before.children_written, after.children_written, seconds));
}

}  // namespace

std::map<std::uint64_t, HostUse> read_host_use(const View& view, std::int64_t time_ns) {
  std::map<std::uint64_t, HostUse> uses;
  const auto machine = node(view);
  if (!machine) return uses;
  const auto ring = view.recorder().find_ring(*machine, Lane::kHostProcess);
  if (!ring) return uses;
  std::map<std::uint64_t, Counters> newest;  // those that still want the row before
  Row row(catalog::Scope::kNode, Lane::kHostProcess);
  const std::uint64_t oldest = view.recorder().oldest(*ring);
  std::uint64_t end = view.end_at(*ring, time_ns);
  for (std::size_t looked = 0; end > oldest && looked < kReachRows; ++looked) {
    if (view.recorder().read(*ring, --end, row) != recorder::RowState::kOk) continue;
    if (row.time_ns < time_ns - kReachNs) break;
    const auto pid = count(row, MetricId::host_process_pid);
    if (!pid) continue;
    // Between the readings of a process that is read less often, a row says only that it is there.
    if (row.state(MetricId::host_process_state) == catalog::State::kNotRead) continue;
    const Counters counters = parse_counters(row);
    const auto use = uses.find(*pid);
    if (use == uses.end()) {
      uses.emplace(*pid, parse_use(row));
      newest.emplace(*pid, counters);
    } else if (const auto after = newest.find(*pid); after != newest.end()) {
      // A pid that was used again has rows of two processes.
      if (after->second.identity == counters.identity) {
        add_rates(use->second, counters, after->second);
      }
      newest.erase(after);
    }
  }
  return uses;
}

}  // namespace everywatt::view
