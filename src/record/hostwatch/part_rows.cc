// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/part_rows.h"

#include <unistd.h>

#include <string>
#include <utility>

#include "device/host/folder.h"
#include "device/host/lines.h"
#include "device/host/process_line.h"
#include "record/hostwatch/state_of.h"

namespace everywatt::hostwatch {
namespace {

using catalog::MetricId;

constexpr std::uint64_t kSharesEveryTicks = 10;
constexpr std::size_t kSmapsBytes = 8u << 20;

}  // namespace

PartRows::PartRows(recorder::File& file, std::vector<recorder::Writer> writers,
                   std::vector<host::FileNumber> files)
    : file_(file),
      writers_(std::move(writers)),
      files_(std::move(files)),
      row_(catalog::Scope::kPart, catalog::Lane::kPart) {}

base::Result<PartRows> PartRows::open(recorder::File& recorder, recorder::File& identities) {
  std::vector<recorder::Writer> writers;
  for (const std::uint32_t slot : recorder.slots(catalog::Scope::kPart)) {
    auto writer = recorder.writer(slot, catalog::Lane::kPart);
    if (!writer) return std::unexpected(writer.error());
    writers.push_back(*writer);
  }
  std::vector<host::FileNumber> files;
  for (const int fd : {recorder.fd(), identities.fd()}) {
    if (const auto number = host::read_file_number(fd)) files.push_back(*number);
  }
  return PartRows(recorder, std::move(writers), std::move(files));
}

void PartRows::tick(std::int64_t now_ns, Complaints& complaints) {
  for (std::size_t i = 0; i < writers_.size() && i < watched_.size(); ++i) {
    recorder::PartSlot& slot = file_.part(static_cast<recorder::Part>(i));
    const auto pid = static_cast<std::uint32_t>(slot.pid.load(std::memory_order_acquire));
    std::optional<Watched>& watched = watched_[i];
    if (pid == 0) {
      watched.reset();
      continue;
    }
    if (!watched || watched->pid != pid) {
      const std::string folder = "/proc/" + std::to_string(pid);
      watched.emplace(Watched{.pid = pid,
                              .line = host::OpenFile(root_, folder + "/stat"),
                              .status = host::OpenFile(root_, folder + "/status"),
                              .smaps = host::OpenFile(root_, folder + "/smaps", kSmapsBytes,
                                                      host::OpenFile::Lines::kAny)});
    }
    row_.clear();
    row_.time_ns = now_ns;
    row_.set(MetricId::everywatt_process_pid, std::uint64_t{pid});
    row_.set(MetricId::everywatt_process_starts_total, slot.starts.load(std::memory_order_acquire));
    if (static_cast<recorder::Part>(i) == recorder::Part::kSupervisor) {
      row_.set(MetricId::everywatt_unkillable_processes,
               slot.unkillable.load(std::memory_order_acquire));
    } else {
      row_.set_absent(MetricId::everywatt_unkillable_processes, catalog::State::kNotSupported);
    }
    fill(*watched, complaints);
    if (ticks_ % kSharesEveryTicks == i) fill_shares(*watched, complaints);
    writers_[i].append(row_);
  }
  ++ticks_;
}

void PartRows::fill(Watched& watched, Complaints& complaints) {
  const auto text = watched.line.read();
  const auto line = text ? host::parse_process_line(*text)
                         : base::Result<host::ProcessLine>(std::unexpected(text.error()));
  if (!line) {
    complaints.failed("Everywatt's own processes", line.error());
    row_.set_absent(MetricId::everywatt_process_cpu_seconds_total, state_of(line.error().code));
    return;
  }
  row_.set(MetricId::everywatt_process_cpu_seconds_total,
           line->user_seconds + line->system_seconds);
  row_.set(MetricId::everywatt_process_threads, std::uint64_t{line->threads});
  row_.set(MetricId::everywatt_process_resident_bytes,
           line->resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  const std::string folder = "/proc/" + std::to_string(watched.pid);
  const std::size_t open_files = host::list_folder(root_, folder + "/fd").size();
  if (open_files > 0) {
    row_.set(MetricId::everywatt_process_open_files, std::uint64_t{open_files});
  } else {
    // Every process of ours has some: none means that they are hidden from us.
    row_.set_absent(MetricId::everywatt_process_open_files, catalog::State::kNoPermission);
  }
  if (const auto status = watched.status.read()) {
    const auto waited = host::find_number(*status, "voluntary_ctxt_switches:");
    const auto pushed = host::find_number(*status, "nonvoluntary_ctxt_switches:");
    if (waited && pushed) {
      row_.set(MetricId::everywatt_process_context_switches_total, *waited + *pushed);
    }
  }
}

void PartRows::fill_shares(Watched& watched, Complaints& complaints) {
  const auto text = watched.smaps.read();
  const auto memory = text ? host::parse_proportional_memory(*text, files_)
                           : base::Result<host::ProportionalMemory>(std::unexpected(text.error()));
  if (!memory) {
    complaints.failed("memory of Everywatt's own processes", memory.error());
    const catalog::State state = state_of(memory.error().code);
    row_.set_absent(MetricId::everywatt_process_proportional_bytes, state);
    row_.set_absent(MetricId::everywatt_process_recorder_proportional_bytes, state);
    return;
  }
  row_.set(MetricId::everywatt_process_proportional_bytes, memory->total_bytes);
  row_.set(MetricId::everywatt_process_recorder_proportional_bytes, memory->file_bytes);
}

}  // namespace everywatt::hostwatch
