// SPDX-License-Identifier: Apache-2.0
#include "device/sim/mig_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace everywatt::sim {
namespace {

constexpr std::uint64_t kMigChanged = 0x100;  // the driver's event type
// In the driver's order: small ones lie in the upper half where they can.
constexpr std::array kPlaceOrder = {4u, 5u, 6u, 0u, 1u, 2u, 3u};

bool overlap(const Span& left, const Span& right) {
  return left.from_ns < right.until_ns && right.from_ns < left.until_ns;
}

unsigned slices_of(const MigProfile& profile, unsigned first) {
  return ((1u << profile.memory_slices) - 1) << first;
}

// Lays instances of one GPU out, one section after the other in order of their beginnings. An
// instance keeps its place for as long as it is there.
class Layout {
 public:
  Layout(Scenario& scenario, std::uint32_t gpu) : scenario_(scenario), gpu_(gpu) {}

  using Problem = std::optional<std::string>;

  Problem run() {
    std::vector<const MigEntry*> entries;
    for (const MigEntry& entry : scenario_.migs) {
      if (!entry.gpu || *entry.gpu == gpu_) entries.push_back(&entry);
    }
    unsigned number = 0;
    for (const MigEntry* entry : entries) {
      if (Problem problem = add(*entry, number))
        return fmt::format("{}: {}", entry->line, *problem);
    }
    std::ranges::stable_sort(entries, {},
                             [](const MigEntry* entry) { return entry->span.from_ns; });
    for (const MigEntry* entry : entries) {
      const std::vector<MigInstance*> wanted = of(*entry);
      if (!place(*entry, wanted)) {
        return fmt::format("{}: these profiles do not fit on gpu {} beside what is there",
                           entry->line, gpu_);
      }
      announce(*entry);
    }
    for (MigInstance& instance : instances_) {
      instance.gpu_instance_id = node_of(instance);
      scenario_.mig_instances.push_back(std::move(instance));
    }
    return std::nullopt;
  }

 private:
  Problem add(const MigEntry& entry, unsigned& number) {
    const std::string& gpu_profile = scenario_.devices[gpu_].profile;
    for (std::size_t i = 0; i < entry.profiles.size(); ++i) {
      const MigProfile* profile = find_mig_profile(gpu_profile, entry.profiles[i]);
      if (!profile) {
        return fmt::format("gpu {} ({}) has no MIG profile '{}'", gpu_, gpu_profile,
                           entry.profiles[i]);
      }
      // Of a GPU, the first does all that the trace does.
      const unsigned percent = i < entry.activity_percent.size() ? entry.activity_percent[i]
                               : entry.activity_percent.empty() && number == 0 ? 100
                                                                               : 0;
      instances_.push_back(
          {.gpu = gpu_,
           .number = number,
           .profile = profile,
           .uuid = fmt::format("MIG-5ee0{:04x}-e0e7-5a77-8000-{:012x}", gpu_, number + 1),
           .activity = percent / 100.0,
           .span = entry.span});
      entry_of_.push_back(&entry);
      ++number;
    }
    return std::nullopt;
  }

  std::vector<MigInstance*> of(const MigEntry& entry) {
    std::vector<MigInstance*> found;
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      if (entry_of_[i] == &entry) found.push_back(&instances_[i]);
    }
    return found;
  }

  bool place(const MigEntry& entry, std::span<MigInstance* const> wanted) {
    unsigned taken = 0;
    for (const MigInstance* other : placed_) {
      if (overlap(other->span, entry.span)) {
        taken |= slices_of(*other->profile, other->first_slice);
      }
    }
    if (!place_all(wanted, taken)) return false;
    placed_.insert(placed_.end(), wanted.begin(), wanted.end());
    return are_few_enough(entry);
  }

  static bool place_all(std::span<MigInstance* const> wanted, unsigned taken) {
    if (wanted.empty()) return true;
    MigInstance& first = *wanted.front();
    for (const unsigned place : kPlaceOrder) {
      if ((first.profile->places >> place & 1u) == 0) continue;
      const unsigned slices = slices_of(*first.profile, place);
      if ((slices & taken) != 0) continue;
      first.first_slice = place;
      if (place_all(wanted.subspan(1), taken | slices)) return true;
    }
    return false;
  }

  bool are_few_enough(const MigEntry& entry) const {
    return std::ranges::all_of(placed_, [&](const MigInstance* one) {
      const auto alike = std::ranges::count_if(placed_, [&](const MigInstance* other) {
        return other->profile == one->profile && overlap(other->span, entry.span);
      });
      return !overlap(one->span, entry.span) || alike <= one->profile->most;
    });
  }

  // The driver numbers instances by the halves, quarters and eighths of the GPU, from 0 for the
  // whole, and begins with the half that was used first.
  unsigned node_of(const MigInstance& instance) const {
    unsigned size = kMemorySlices / 2;
    if (instance.profile->memory_slices > size) return 0;
    const bool is_upper = instance.first_slice >= size;
    const bool is_upper_first = placed_.front()->first_slice >= size;
    unsigned node = is_upper == is_upper_first ? 1 : 2;
    unsigned begin = is_upper ? size : 0;
    while (instance.profile->memory_slices < size) {
      size /= 2;
      const bool is_right = instance.first_slice >= begin + size;
      node = 2 * node + (is_right ? 2 : 1);
      if (is_right) begin += size;
    }
    return node;
  }

  void announce(const MigEntry& entry) {
    if (!entry.announced) return;
    for (const std::int64_t at_ns : {entry.span.from_ns, entry.span.until_ns}) {
      if (at_ns <= 0 || at_ns == kForever) continue;
      const bool is_known = std::ranges::any_of(scenario_.events, [&](const EventEntry& event) {
        return event.type == kMigChanged && event.gpu == gpu_ && event.at_ns == at_ns;
      });
      if (is_known) continue;
      EventEntry event;
      event.gpu = gpu_;
      event.at_ns = at_ns;
      event.type = kMigChanged;
      scenario_.events.push_back(std::move(event));
    }
  }

  Scenario& scenario_;
  const std::uint32_t gpu_;
  std::vector<MigInstance> instances_;     // all of the GPU, in the file's order
  std::vector<const MigEntry*> entry_of_;  // beside them
  std::vector<const MigInstance*> placed_;
};

bool is_in(const MigInstance& instance, std::uint32_t gpu, std::int64_t played_ns) {
  return instance.gpu == gpu && instance.span.holds(played_ns);
}

}  // namespace

std::optional<std::string> lay_out_migs(Scenario& scenario) {
  for (std::uint32_t gpu = 0; gpu < scenario.devices.size(); ++gpu) {
    if (auto problem = Layout(scenario, gpu).run()) return problem;
  }
  for (const ProcessEntry& process : scenario.processes) {
    if (!process.mig) continue;
    const bool is_there = std::ranges::any_of(scenario.mig_instances, [&](const MigInstance& one) {
      return one.number == *process.mig && (!process.gpu || *process.gpu == one.gpu);
    });
    if (!is_there) return fmt::format(" a [[process]] in mig {}, which no GPU has", *process.mig);
  }
  return std::nullopt;
}

bool is_mig_on(const Scenario& scenario, std::uint32_t gpu, std::int64_t played_ns) {
  return std::ranges::any_of(scenario.migs, [&](const MigEntry& entry) {
    return (!entry.gpu || *entry.gpu == gpu) && entry.span.holds(played_ns);
  });
}

std::vector<const MigInstance*> mig_instances(const Scenario& scenario, std::uint32_t gpu,
                                              std::int64_t played_ns) {
  std::vector<const MigInstance*> found;
  for (const MigInstance& instance : scenario.mig_instances) {
    if (is_in(instance, gpu, played_ns)) found.push_back(&instance);
  }
  std::ranges::sort(found, {}, &MigInstance::gpu_instance_id);
  return found;
}

const MigInstance* main_mig_instance(const Scenario& scenario, std::uint32_t gpu,
                                     std::int64_t played_ns) {
  const auto found = std::ranges::find_if(scenario.mig_instances, [&](const MigInstance& instance) {
    return is_in(instance, gpu, played_ns);
  });
  return found == scenario.mig_instances.end() ? nullptr : &*found;
}

MigShare mig_share(const MigInstance& instance, unsigned multiprocessors_of_gpu) {
  return {.multiprocessors =
              instance.activity * instance.profile->multiprocessors / multiprocessors_of_gpu,
          .memory = instance.activity * instance.profile->memory_slices / kMemorySlices};
}

}  // namespace everywatt::sim
