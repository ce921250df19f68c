// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/machine_watch.h"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "base/text.h"
#include "device/host/lines.h"
#include "device/host/machine.h"
#include "device/host/machine_identity.h"
#include "device/host/shared_memory.h"
#include "record/hostwatch/state_of.h"

namespace everywatt::hostwatch {
namespace {

using catalog::MetricId;

constexpr std::int64_t kSlowPeriodNs = 10'000'000'000;

// Reads and parses one file. A failure becomes the state of all that comes from it.
template <typename Parse>
auto read_parsed(host::OpenFile& file, Parse parse, catalog::Row& row,
                 std::initializer_list<MetricId> metrics, Complaints& complaints)
    -> decltype(parse(std::string_view())) {
  const auto text = file.read();
  auto parsed = text ? parse(*text) : std::unexpected(text.error());
  if (parsed) {
    complaints.worked(file.path());
    return parsed;
  }
  complaints.failed(file.path(), parsed.error());
  for (const MetricId metric : metrics)
    row.set_absent(metric, state_of(parsed.error().code));
  return parsed;
}

}  // namespace

MachineWatch::MachineWatch(const host::Root& root, recorder::Writer rows, recorder::Writer identity)
    : root_(root),
      rows_(rows),
      identity_(identity),
      row_(catalog::Scope::kNode, catalog::Lane::kHost),
      cpu_(root, "/proc/stat"),
      memory_(root, "/proc/meminfo"),
      load_(root, "/proc/loadavg"),
      uptime_(root, "/proc/uptime"),
      open_files_(root, "/proc/sys/fs/file-nr"),
      pressure_{host::OpenFile(root, "/proc/pressure/cpu"),
                host::OpenFile(root, "/proc/pressure/io"),
                host::OpenFile(root, "/proc/pressure/memory")} {}

base::Result<MachineWatch> MachineWatch::open(const host::Root& root, recorder::File& file) {
  const std::uint32_t slot = file.slots(catalog::Scope::kNode).at(0);
  auto rows = file.writer(slot, catalog::Lane::kHost);
  if (!rows) return std::unexpected(rows.error());
  auto identity = file.writer(slot, catalog::Lane::kOnce);
  if (!identity) return std::unexpected(identity.error());
  return MachineWatch(root, *rows, *identity);
}

void MachineWatch::tick(std::int64_t now_ns, Complaints& complaints) {
  if (now_ns >= next_identity_ns_) write_identity(now_ns);
  row_.clear();
  row_.time_ns = now_ns;
  read_cpu(complaints);
  read_memory(complaints);
  read_load(complaints);
  read_pressure(complaints);
  read_shared_memory(now_ns, complaints);
  rows_.append(row_);
}

void MachineWatch::read_cpu(Complaints& complaints) {
  const auto time =
      read_parsed(cpu_, host::parse_cpu_time, row_,
                  {MetricId::host_cpu_user_seconds_total, MetricId::host_cpu_nice_seconds_total,
                   MetricId::host_cpu_system_seconds_total, MetricId::host_cpu_idle_seconds_total,
                   MetricId::host_cpu_iowait_seconds_total, MetricId::host_cpu_irq_seconds_total,
                   MetricId::host_cpu_softirq_seconds_total, MetricId::host_cpu_steal_seconds_total,
                   MetricId::host_cpus},
                  complaints);
  forks_.reset();
  if (!time) return;
  if (time->forks > 0) forks_ = time->forks;
  row_.set(MetricId::host_cpu_user_seconds_total, time->user_seconds);
  row_.set(MetricId::host_cpu_nice_seconds_total, time->nice_seconds);
  row_.set(MetricId::host_cpu_system_seconds_total, time->system_seconds);
  row_.set(MetricId::host_cpu_idle_seconds_total, time->idle_seconds);
  row_.set(MetricId::host_cpu_iowait_seconds_total, time->iowait_seconds);
  row_.set(MetricId::host_cpu_irq_seconds_total, time->irq_seconds);
  row_.set(MetricId::host_cpu_softirq_seconds_total, time->softirq_seconds);
  row_.set(MetricId::host_cpu_steal_seconds_total, time->steal_seconds);
  row_.set(MetricId::host_cpus, std::uint64_t{time->cpus});
}

void MachineWatch::read_memory(Complaints& complaints) {
  const auto memory =
      read_parsed(memory_, host::parse_memory, row_,
                  {MetricId::host_memory_total_bytes, MetricId::host_memory_available_bytes,
                   MetricId::host_memory_free_bytes, MetricId::host_memory_cached_bytes,
                   MetricId::host_memory_shared_bytes, MetricId::host_swap_total_bytes,
                   MetricId::host_swap_free_bytes},
                  complaints);
  if (!memory) return;
  row_.set(MetricId::host_memory_total_bytes, memory->total_bytes);
  row_.set(MetricId::host_memory_available_bytes, memory->available_bytes);
  row_.set(MetricId::host_memory_free_bytes, memory->free_bytes);
  row_.set(MetricId::host_memory_cached_bytes, memory->cached_bytes);
  row_.set(MetricId::host_memory_shared_bytes, memory->shared_bytes);
  row_.set(MetricId::host_swap_total_bytes, memory->swap_total_bytes);
  row_.set(MetricId::host_swap_free_bytes, memory->swap_free_bytes);
}

void MachineWatch::read_load(Complaints& complaints) {
  const auto load =
      read_parsed(load_, host::parse_load, row_,
                  {MetricId::host_load1, MetricId::host_load5, MetricId::host_load15}, complaints);
  if (load) {
    row_.set(MetricId::host_load1, load->minutes_1);
    row_.set(MetricId::host_load5, load->minutes_5);
    row_.set(MetricId::host_load15, load->minutes_15);
  }
  const auto uptime =
      read_parsed(uptime_, host::parse_uptime, row_, {MetricId::host_uptime_seconds}, complaints);
  if (uptime) row_.set(MetricId::host_uptime_seconds, *uptime);
  const auto parse_open_files = [](std::string_view text) -> base::Result<std::uint64_t> {
    const auto open_files = host::take_u64(text);
    if (!open_files) return base::fail(base::Code::kCorrupt, "file-nr: no number");
    return *open_files;
  };
  const auto open_files =
      read_parsed(open_files_, parse_open_files, row_, {MetricId::host_open_files}, complaints);
  if (open_files) row_.set(MetricId::host_open_files, *open_files);
}

void MachineWatch::read_pressure(Complaints& complaints) {
  constexpr std::array kMetrics = {std::array{MetricId::host_pressure_cpu_some_seconds_total,
                                              MetricId::host_pressure_cpu_full_seconds_total},
                                   std::array{MetricId::host_pressure_io_some_seconds_total,
                                              MetricId::host_pressure_io_full_seconds_total},
                                   std::array{MetricId::host_pressure_memory_some_seconds_total,
                                              MetricId::host_pressure_memory_full_seconds_total}};
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    const auto [some, full] = kMetrics[i];
    const auto pressure =
        read_parsed(pressure_[i], host::parse_pressure, row_, {some, full}, complaints);
    if (!pressure) continue;
    row_.set(some, pressure->some_seconds);
    if (pressure->full_seconds) {
      row_.set(full, *pressure->full_seconds);
    } else {
      row_.set_absent(full, catalog::State::kNotSupported);
    }
  }
}

void MachineWatch::read_shared_memory(std::int64_t now_ns, Complaints& complaints) {
  // A node with hundreds of containers has thousands of mounts to look through.
  if (slow_read_ns_ && now_ns - *slow_read_ns_ < kSlowPeriodNs) return;
  slow_read_ns_ = now_ns;
  const auto shared = host::read_shared_memory(root_);
  if (!shared) {
    complaints.failed("/dev/shm", shared.error());
    row_.set_absent(MetricId::host_shm_size_bytes, state_of(shared.error().code));
    row_.set_absent(MetricId::host_shm_used_bytes, state_of(shared.error().code));
    return;
  }
  complaints.worked("/dev/shm");
  row_.set(MetricId::host_shm_size_bytes, shared->size_bytes);
  row_.set(MetricId::host_shm_used_bytes, shared->used_bytes);
}

// Once; what could not be read then is tried again.
void MachineWatch::write_identity(std::int64_t now_ns) {
  const host::MachineIdentity identity = host::read_machine_identity(root_);
  catalog::Row row(catalog::Scope::kNode, catalog::Lane::kOnce);
  row.time_ns = now_ns;
  unsigned known = 0;
  const auto put = [&](MetricId metric, std::string_view text) {
    if (text.empty()) {
      row.set_absent(metric, catalog::State::kNotSupported);
    } else {
      row.set_text(metric, text);
      ++known;
    }
  };
  put(MetricId::host_name, identity.name);
  put(MetricId::host_kernel_version, identity.kernel_version);
  put(MetricId::host_os, identity.operating_system);
  put(MetricId::host_cpu_model, identity.cpu_model);
  constexpr unsigned kAll = 4;
  if (next_identity_ns_ == 0 || known > identity_known_) identity_.append(row);
  identity_known_ = std::max(identity_known_, known);
  next_identity_ns_ =
      known == kAll ? std::numeric_limits<std::int64_t>::max() : now_ns + kSlowPeriodNs;
}

}  // namespace everywatt::hostwatch
