// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/sampler.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "record/sampler/event_watch.h"
#include "record/sampler/gpu_watch.h"
#include "record/sampler/self_row.h"

namespace everywatt::sampler {
namespace {

using catalog::EventKind;
using catalog::Lane;
using catalog::Scope;
using recorder::DeviceStatus;
using recorder::Part;

constexpr std::int64_t kSecond = 1'000'000'000;
// Between two GPM samples of which a refresh has to lie, with room for its jitter.
constexpr std::int64_t kGpmWindowNs = 250'000'000;
constexpr unsigned kMaxLeases = 4;

std::uint32_t part_slot(const recorder::File& file) {
  return file.slots(Scope::kPart).at(static_cast<unsigned>(Part::kSampler));
}

}  // namespace

struct Sampler::Parts {
  Parts(const Options& given, recorder::File& to, recorder::Writer event_writer,
        recorder::Writer self_writer)
      : options(given),
        file(to),
        events(event_writer, options.clock, options.wall_clock),
        allowance(options.gpm_cpu_ratio, options.clock()),
        own_tally(tallies.add()),
        pcie_tally(tallies.add()),
        self(self_writer) {}

  base::Status add_gpus(std::vector<std::string> addresses);
  nvml::CallTrace node_trace();
  base::Result<std::unique_ptr<nvml::Library>> open_library();
  void note_absent(const base::Error& error);
  // Adds the GPUs that NVML knows, when nobody said which there are.
  void enumerate(nvml::Library& library);
  bool is_driver_gone() const;
  void work(nvml::Library& library, const std::stop_token& stop);
  void keep_house(std::int64_t now_ns);

  const Options options;
  recorder::File& file;
  EventLog events;
  CpuAllowance allowance;
  TallyBook tallies;
  // One a thread and not one a start: a driver that is not there is tried for ever.
  Tally& own_tally;
  Tally& pcie_tally;
  SelfRow self;
  const Shared shared{options, file, events, allowance, tallies};
  std::mutex gpus_mutex;  // guards the growth of `gpus` against lease()
  std::vector<std::unique_ptr<GpuWatch>> gpus;
  bool is_absence_known = false;  // an event and a line of log told it
};

base::Status Sampler::Parts::add_gpus(std::vector<std::string> addresses) {
  const std::vector<std::uint32_t> slots = file.slots(Scope::kGpu);
  if (addresses.size() > slots.size()) {
    base::log(base::LogLevel::kWarning,
              fmt::format("{} GPUs, but the recorder has room for {}: the last ones are not read",
                          addresses.size(), slots.size()));
    addresses.resize(slots.size());
  }
  for (unsigned i = 0; i < addresses.size(); ++i) {
    if (std::ranges::find(options.fenced, i) != options.fenced.end()) continue;
    auto gpu = GpuWatch::open(
        shared, {.pci_address = std::move(addresses[i]), .number = i, .slot = slots[i]});
    if (!gpu) return std::unexpected(std::move(gpu.error()));
    const std::lock_guard lock(gpus_mutex);
    gpus.push_back(std::move(*gpu));
  }
  return {};
}

// What concerns no GPU - the library's start and end, the wait for events - leaves its breadcrumb
// with the machine. One thread at a time: while one waits for events, the main one calls nothing.
nvml::CallTrace Sampler::Parts::node_trace() {
  nvml::CallTrace trace{.tally = &own_tally.calls()};
  const std::vector<std::uint32_t> nodes = file.slots(Scope::kNode);
  if (!nodes.empty()) {
    recorder::DeviceSlot& node = file.device(nodes.front());
    trace.call = &node.call;
    trace.since_ns = &node.call_since_ns;
  }
  return trace;
}

base::Result<std::unique_ptr<nvml::Library>> Sampler::Parts::open_library() {
  auto library = nvml::Library::open(options.library, node_trace());
  if (library) enumerate(**library);
  return library;
}

void Sampler::Parts::enumerate(nvml::Library& library) {
  if (!options.pci_addresses.empty() || !gpus.empty()) return;
  const nvml::Answer<unsigned> count = nvml::Device::count(library, node_trace());
  if (!count) return;
  const base::Status added = add_gpus(std::vector<std::string>(*count));
  if (!added) base::log(base::LogLevel::kError, added.error().message);
}

void Sampler::Parts::note_absent(const base::Error& error) {
  for (const std::unique_ptr<GpuWatch>& gpu : gpus) {
    file.set_status(gpu->place().slot, DeviceStatus::kFailed, options.clock());
  }
  if (std::exchange(is_absence_known, true)) return;
  base::log(base::LogLevel::kWarning, error.message);
  const std::vector<std::uint32_t> nodes = file.slots(Scope::kNode);
  events.add({.kind = EventKind::kDriverAbsent,
              .device = nodes.empty() ? 0 : nodes.front(),
              .text = error.message});
}

bool Sampler::Parts::is_driver_gone() const {
  return std::ranges::any_of(gpus, [](const auto& gpu) { return gpu->is_driver_gone(); });
}

void Sampler::Parts::keep_house(std::int64_t now_ns) {
  file.part(Part::kSampler)
      .heartbeat_ns.store(static_cast<std::uint64_t>(now_ns), std::memory_order_release);
  self.write(shared, now_ns);
}

// One span with the driver: ends when asked to, or when the driver was shut down under us.
void Sampler::Parts::work(nvml::Library& library, const std::stop_token& stop) {
  std::optional<nvml::EventSet> event_set;
  if (options.has_events) {
    if (auto opened = nvml::EventSet::open(library, node_trace())) {
      event_set.emplace(std::move(*opened));
    }
  }
  std::vector<std::jthread> threads;
  for (const std::unique_ptr<GpuWatch>& gpu : gpus) {
    gpu->attach(library, event_set ? &*event_set : nullptr);
    threads.emplace_back([&gpu = *gpu](const std::stop_token& own) { gpu.run(own); });
  }
  if (event_set) {
    threads.emplace_back(
        [&, this](const std::stop_token& own) { watch_events(*event_set, gpus, own); });
  }
  threads.emplace_back([&, this](const std::stop_token& own) {
    watch_pcie(library, gpus, shared, pcie_tally, own);
  });

  Ticker ticker(kSecond, 0, options.clock());
  while (!stop.stop_requested() && !is_driver_gone()) {
    const std::int64_t now_ns = options.clock();
    if (ticker.is_due(now_ns)) {
      ticker.take(now_ns);
      keep_house(now_ns);
    }
    pause(std::min(ticker.next_ns() - options.clock(), kSecond), stop);
  }
  for (std::jthread& thread : threads)
    thread.request_stop();
  threads.clear();
  for (const std::unique_ptr<GpuWatch>& gpu : gpus)
    gpu->detach();
}

Sampler::Sampler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Sampler::~Sampler() = default;

base::Result<std::unique_ptr<Sampler>> Sampler::open(const Options& options, recorder::File& file) {
  if (base::Status status = check(options); !status) {
    return std::unexpected(std::move(status.error()));
  }
  auto events = file.writer(part_slot(file), Lane::kEvent);
  if (!events) return std::unexpected(std::move(events.error()));
  auto self = file.writer(part_slot(file), Lane::kSampling);
  if (!self) return std::unexpected(std::move(self.error()));
  auto parts = std::make_unique<Parts>(options, file, *events, *self);
  if (base::Status added = parts->add_gpus(options.pci_addresses); !added) {
    return std::unexpected(std::move(added.error()));
  }
  return std::unique_ptr<Sampler>(new Sampler(std::move(parts)));
}

void Sampler::run(const std::stop_token& stop) {
  Parts& parts = *parts_;
  recorder::PartSlot& part = parts.file.part(Part::kSampler);
  const std::int64_t started_ns = parts.options.clock();
  part.pid.store(static_cast<std::uint64_t>(::getpid()), std::memory_order_release);
  part.started_ns.store(static_cast<std::uint64_t>(started_ns), std::memory_order_release);
  while (!stop.stop_requested()) {
    parts.keep_house(parts.options.clock());
    auto library = parts.open_library();
    if (library) {
      parts.is_absence_known = false;
      parts.work(**library, stop);
      library->reset();
      if (!stop.stop_requested()) base::log(base::LogLevel::kNotice, "the driver went away");
    } else {
      parts.note_absent(library.error());
    }
    const std::int64_t until_ns = parts.options.clock() + parts.options.retry_ns;
    while (!stop.stop_requested() && parts.options.clock() < until_ns) {
      parts.keep_house(parts.options.clock());
      pause(std::min(until_ns - parts.options.clock(), kSecond), stop);
    }
  }
}

bool Sampler::lease(std::uint32_t device, std::int64_t until_ns) {
  const std::lock_guard lock(parts_->gpus_mutex);
  const std::int64_t now_ns = parts_->options.clock();
  GpuWatch* wanted = nullptr;
  unsigned others = 0;
  for (const std::unique_ptr<GpuWatch>& gpu : parts_->gpus) {
    if (gpu->place().slot == device) {
      wanted = gpu.get();
    } else if (gpu->lanes().policy().leased_until_ns() > now_ns) {
      ++others;
    }
  }
  if (wanted == nullptr || others >= kMaxLeases) return false;
  wanted->lanes().policy().lease(until_ns);
  return true;
}

base::Status sample_once(const Options& options, recorder::File& file) {
  auto sampler = Sampler::open(options, file);
  if (!sampler) return std::unexpected(std::move(sampler.error()));
  return (*sampler)->read_once();
}

base::Status Sampler::read_once() {
  Parts& parts = *parts_;
  auto library = parts.open_library();
  if (!library) return std::unexpected(std::move(library.error()));
  for (const std::unique_ptr<GpuWatch>& gpu : parts.gpus) {
    gpu->attach(**library, nullptr);
    gpu->read_all();
  }
  pause(kGpmWindowNs, std::stop_token{});
  for (const std::unique_ptr<GpuWatch>& gpu : parts.gpus) {
    gpu->take_gpm();
    gpu->detach();
  }
  return {};
}

}  // namespace everywatt::sampler
