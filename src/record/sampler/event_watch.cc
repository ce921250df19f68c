// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/event_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "base/log.h"

namespace everywatt::sampler {
namespace {

// How late a stop is noticed; an event ends the wait at once. Each wait costs 51 us on an H200.
constexpr unsigned kWaitMs = 500;
// How often is asked instead while a GPU has to register: on an H200 that takes as long as a wait
// that has begun, and its first readings would come half a second late.
constexpr std::int64_t kBetweenAsksNs = 5'000'000;
constexpr std::int64_t kErrorPauseNs = 1'000'000'000;

void pass(const nvml::Event& event, const GpuList& gpus) {
  for (GpuWatch* const gpu : gpus.all()) {
    if (gpu->has_handle(event.device)) return gpu->on_event(event);
  }
}

bool is_any_opening(const GpuList& gpus) {
  const auto all = gpus.all();
  return std::ranges::any_of(all, [](const GpuWatch* gpu) { return gpu->is_opening(); });
}

}  // namespace

void pause(std::int64_t duration_ns, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, std::chrono::nanoseconds(duration_ns), [] { return false; });
}

void watch_events(nvml::EventSet& events, const GpuList& gpus, const std::stop_token& stop) {
  bool is_deaf = false;
  while (!stop.stop_requested()) {
    const bool is_held_back = is_any_opening(gpus);
    const auto event = events.wait(is_held_back ? 0 : kWaitMs);
    if (!event) {
      if (!is_deaf) {
        base::log(base::LogLevel::kWarning,
                  fmt::format("the driver's events cannot be waited for: {}",
                              catalog::state_name(event.error())));
      }
      is_deaf = true;
      pause(kErrorPauseNs, stop);
      continue;
    }
    is_deaf = false;
    if (*event) {
      pass(**event, gpus);
    } else if (is_held_back) {
      pause(kBetweenAsksNs, stop);
    }
  }
}

void watch_pcie(nvml::Library& library, const GpuList& gpus, const Shared& shared, Tally& tally,
                const std::stop_token& stop) {
  // Not in the GPU's slot, where its own thread leaves them.
  recorder::DeviceSlot& crumbs = shared.file.device(
      shared.file.slots(catalog::Scope::kPart).at(static_cast<unsigned>(recorder::Part::kSampler)));
  while (!stop.stop_requested()) {
    for (GpuWatch* const gpu : gpus.all()) {
      if (!gpu->wants_pcie() || stop.stop_requested()) continue;
      const GpuWatch::Place place = gpu->place();
      const nvml::CallTrace trace{.call = &crumbs.call,
                                  .since_ns = &crumbs.call_since_ns,
                                  .tally = &tally.calls(),
                                  .mark = slot_mark(place.slot)};
      nvml::Answer<nvml::Device> device =
          place.pci_address.empty() ? nvml::Device::open_nth(library, place.number, trace)
                                    : nvml::Device::open_at(library, place.pci_address, trace);
      if (device) gpu->lanes().pcie().set(nvml::read_pcie_throughput(*device));
    }
    pause(shared.options.periods.pcie_ns, stop);
  }
}

}  // namespace everywatt::sampler
