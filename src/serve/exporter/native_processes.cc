// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "read/view/processes.h"
#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using view::Listing;
using view::Process;
using view::View;

struct Listed {
  const Target* target = nullptr;
  Listing listing;
};

std::optional<std::uint64_t> sum_memory(std::span<const Process> processes) {
  std::uint64_t sum = 0;
  for (const Process& process : processes) {
    if (!process.memory_bytes) return std::nullopt;
    sum += *process.memory_bytes;
  }
  return sum;
}

void append_totals(const std::vector<Listed>& all, Exposition& out) {
  out.begin_family("gpu_processes", "gauge", "Processes that use the GPU.");
  for (const Listed& one : all) {
    out.sample().labels(one.target->labels).value(std::uint64_t{one.listing.processes.size()});
  }
  out.begin_family("gpu_processes_memory_bytes", "gauge",
                   "Device memory that all listed processes hold together.");
  for (const Listed& one : all) {
    const auto sum = sum_memory(one.listing.processes);
    if (sum) out.sample().labels(one.target->labels).value(*sum);
  }
  out.begin_family("gpu_memory_unattributed_bytes", "gauge",
                   "Used device memory that belongs to no listed process.");
  for (const Listed& one : all) {
    if (!one.listing.unattributed_bytes) continue;
    out.sample().labels(one.target->labels).value(*one.listing.unattributed_bytes);
  }
}

// A pid is a label without end: the largest few have one, and the rest are one "other".
void append_memory(const std::vector<Listed>& all, std::size_t most, Exposition& out) {
  out.begin_family("gpu_process_memory_bytes", "gauge",
                   "Device memory that a process holds; the smaller ones together as \"other\".");
  for (const Listed& one : all) {
    const std::span<const Process> processes = one.listing.processes;
    const std::size_t shown = std::min(most, processes.size());
    for (const Process& process : processes.first(shown)) {
      if (!process.memory_bytes) continue;
      out.sample().labels(one.target->labels).label("pid", fmt::format("{}", process.pid));
      out.value(*process.memory_bytes);
    }
    const auto rest = sum_memory(processes.subspan(shown));
    if (rest && shown < processes.size()) {
      out.sample().labels(one.target->labels).label("pid", "other").value(*rest);
    }
  }
}

void append_ratio(const std::vector<Listed>& all, std::size_t most, std::string_view name,
                  std::string_view help, std::optional<double> Process::* member, Exposition& out) {
  out.begin_family(name, "gauge", help);
  for (const Listed& one : all) {
    const std::span<const Process> processes = one.listing.processes;
    for (const Process& process : processes.first(std::min(most, processes.size()))) {
      if (!(process.*member)) continue;
      out.sample().labels(one.target->labels).label("pid", fmt::format("{}", process.pid));
      out.value(*(process.*member));
    }
  }
}

}  // namespace

void append_processes(const View& view, const Plan& plan, std::size_t processes_a_gpu,
                      Exposition& out) {
  std::vector<Listed> all;
  for (const Target& target : plan.targets) {
    if (target.device.scope != catalog::Scope::kGpu) continue;
    Listing listing = list_processes(view, target.device.slot, view::Join::kDriverOnly);
    if (listing.is_known()) all.push_back({&target, std::move(listing)});
  }
  append_totals(all, out);
  append_memory(all, processes_a_gpu, out);
  append_ratio(all, processes_a_gpu, "gpu_process_sm_ratio",
               "Share of the driver's sample period in which SMs were busy for a process.",
               &Process::sm_ratio, out);
  append_ratio(all, processes_a_gpu, "gpu_process_memory_controller_ratio",
               "Share of the driver's sample period in which device memory moved for a process.",
               &Process::memory_controller_ratio, out);
}

}  // namespace everywatt::exporter
