// SPDX-License-Identifier: Apache-2.0
#include "app/process_table.h"

#include <fmt/format.h>

#include "app/messages.h"
#include "app/output.h"
#include "app/table.h"
#include "app/words.h"
#include "catalog/glossary.h"

namespace everywatt::app {
namespace {

// Used memory that no process accounts for is worth a line from here on: contexts round up.
constexpr std::uint64_t kUnattributedBytes = std::uint64_t{512} << 20;

std::string shown_ratio(const std::optional<double>& ratio) {
  return ratio ? catalog::format_value(catalog::MetricId::process_sm_ratio, *ratio) : "-";
}

std::string shown_bytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? catalog::format_value(catalog::MetricId::process_memory_bytes,
                                       static_cast<double>(*bytes))
               : "-";
}

// With its children: data loaders are what a training process computes with.
std::string shown_cpu(const std::optional<view::HostUse>& use) {
  if (!use || !use->cpu_cores) return "-";
  return fmt::format("{:.0f} %", 100 * (*use->cpu_cores + use->children_cpu_cores.value_or(0)));
}

std::string shown_owner(const view::Identity& identity) {
  if (!identity.slurm_job.empty()) return "slurm " + identity.slurm_job;
  if (!identity.pod_uid.empty()) return "pod " + identity.pod_uid;
  if (!identity.container.empty()) {
    return (identity.runtime.empty() ? "container" : identity.runtime) + " " +
           identity.container.substr(0, 12);
  }
  return identity.unit;
}

void add_process(Table& table, const GpuListing& gpu, const view::Process& process,
                 Language language) {
  const view::Identity identity = process.identity.value_or(view::Identity{});
  table.add({gpu.device.label(), std::to_string(process.pid), type_word(process, language),
             identity.user.empty() ? "-" : identity.user, shown_bytes(process.memory_bytes),
             shown_ratio(process.sm_ratio), shown_ratio(process.memory_controller_ratio),
             shown_cpu(process.host),
             process.host ? shown_bytes(process.host->resident_bytes) : "-", shown_owner(identity),
             identity.command.empty() ? "-" : identity.command});
}

std::vector<std::string> remark(const GpuListing& gpu, const std::string& memory,
                                const std::string& text) {
  return {gpu.device.label(), "-", "", "", memory, "", "", "", "", "", text};
}

}  // namespace

std::vector<GpuListing> list_all(const view::View& view, std::span<const view::Device> gpus) {
  std::vector<GpuListing> listings;
  for (const view::Device& gpu : gpus) {
    listings.push_back({gpu, view::list_processes(view, gpu.slot)});
  }
  return listings;
}

std::string format_processes(std::span<const GpuListing> listings, Language language) {
  const auto heading = [language](Message message) { return say(language, message); };
  Table table({{heading(Message::heading_gpu)},
               {heading(Message::heading_pid), Align::kRight},
               {heading(Message::heading_type)},
               {heading(Message::heading_user)},
               {heading(Message::heading_memory), Align::kRight},
               {"SM", Align::kRight},
               {heading(Message::heading_memory_controller), Align::kRight},
               {"CPU", Align::kRight},
               {"RSS", Align::kRight},
               {heading(Message::heading_owner)},
               {heading(Message::heading_command)}});
  for (const GpuListing& gpu : listings) {
    if (!gpu.listing.is_known()) {
      table.add(remark(gpu, "", say(language, Message::processes_unknown)));
      continue;
    }
    for (const view::Process& process : gpu.listing.processes) {
      add_process(table, gpu, process, language);
    }
    if (gpu.listing.unattributed_bytes.value_or(0) >= kUnattributedBytes) {
      table.add(remark(gpu, shown_bytes(gpu.listing.unattributed_bytes),
                       say(language, Message::processes_unattributed)));
    }
  }
  if (table.rows() == 0) return say(language, Message::processes_none) + "\n";
  return table.format(stdout_emphasis());
}

}  // namespace everywatt::app
