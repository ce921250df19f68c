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
#include "record/sampler/backoff.h"
#include "record/sampler/event_watch.h"
#include "record/sampler/gpu_list.h"
#include "record/sampler/gpu_roster.h"
#include "record/sampler/self_row.h"
#include "record/sampler/unnamed_gpu.h"

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
// How often the bus is looked at.
constexpr std::int64_t kBusNs = 3 * kSecond;

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
        roster(to),
        self(self_writer),
        bus(options.list_gpus ? options.list_gpus() : options.pci_addresses) {}

  base::Status add_gpus(const std::vector<std::string>& addresses);
  base::Result<GpuWatch*> add_gpu(const std::string& address);
  base::Result<GpuWatch*> watch_place(unsigned number, const std::string& address);
  void mark_absent();
  std::vector<GpuWatch*> follow_bus(std::int64_t now_ns);
  GpuWatch* follow_move(GpuWatch& gpu);
  void watch_known();
  void note_back(const nvml::Library& library);
  bool is_renewal_wanted() const;
  nvml::CallTrace node_trace();
  base::Result<std::unique_ptr<nvml::Library>> open_library();
  void note_absent(const base::Error& error);
  void tell_absent(const base::Error& error);
  // Adds the GPUs that NVML knows, when nobody said which there are.
  void enumerate(nvml::Library& library);
  // Whether it shows GPUs. Where it never did, GPUs are what the driver says.
  bool is_bus_known() const { return !bus.empty() || !options.pci_addresses.empty(); }
  bool is_driver_gone() const;
  bool is_to_end() const { return is_slot_missing && options.no_slot == Options::NoSlot::kEnd; }
  void try_events(nvml::Library& library, std::optional<nvml::EventSet>& event_set, Backoff& tries);
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
  GpuRoster roster;
  SelfRow self;
  const Shared shared{options, file, events, allowance, tallies, &roster};
  GpuList gpus;
  std::vector<std::string> bus;  // the addresses when it was looked at last
  std::int64_t bus_seen_ns = 0;
  bool is_slot_missing = false;
  std::string absence;  // as an event and a line of log told it; "": the driver is there
};

base::Status Sampler::Parts::add_gpus(const std::vector<std::string>& addresses) {
  for (const std::string& address : addresses) {
    if (auto gpu = add_gpu(address); !gpu) return std::unexpected(std::move(gpu.error()));
  }
  return {};
}

// Null: it is left alone, or there is no slot for it.
base::Result<GpuWatch*> Sampler::Parts::add_gpu(const std::string& address) {
  const std::int64_t now_ns = options.clock();
  const std::optional<unsigned> number = roster.take(address, now_ns);
  if (!number) {
    if (!std::exchange(is_slot_missing, true)) {
      base::log(base::LogLevel::kWarning,
                fmt::format("the recorder has room for {} GPUs: {} is not read", roster.size(),
                            address.empty() ? "another one" : address));
    }
    return nullptr;
  }
  if (std::ranges::find(options.fenced, *number) != options.fenced.end()) {
    describe_unnamed_gpu(file, file.slots(Scope::kGpu)[*number], *number, address, now_ns);
    return nullptr;
  }
  return watch_place(*number, address);
}

base::Result<GpuWatch*> Sampler::Parts::watch_place(unsigned number, const std::string& address) {
  if (GpuWatch* const gpu = gpus.find(number)) {
    gpu->move_to(address);
    return nullptr;
  }
  auto gpu = GpuWatch::open(
      shared, {.pci_address = address, .number = number, .slot = file.slots(Scope::kGpu)[number]});
  if (!gpu) return std::unexpected(std::move(gpu.error()));
  return &gpus.add(std::move(*gpu));
}

// What an earlier sampler read and the bus does not show any more.
void Sampler::Parts::mark_absent() {
  if (!is_bus_known()) return;
  const std::vector<std::uint32_t> slots = file.slots(Scope::kGpu);
  for (unsigned number = 0; number < roster.size(); ++number) {
    const std::string address = roster.address(number);
    const auto status = static_cast<DeviceStatus>(file.device(slots[number]).status.load());
    if (address.empty() || status == DeviceStatus::kUnused ||
        std::ranges::find(bus, address) != bus.end()) {
      continue;
    }
    roster.set_presence(number, Presence::kAbsent, options.clock());
    if (gpus.find(number) != nullptr) continue;  // its own thread says so
    file.set_status(slots[number], DeviceStatus::kGone, options.clock());
    for (const std::uint32_t mig : file.slots(Scope::kGpu, slots[number])) {
      if (file.device(mig).status.load() == static_cast<std::uint64_t>(DeviceStatus::kUnused)) {
        continue;
      }
      file.set_status(mig, DeviceStatus::kGone, options.clock());
    }
  }
}

// GPUs that have come and gone since the last time. Those that are new are not attached yet.
std::vector<GpuWatch*> Sampler::Parts::follow_bus(std::int64_t now_ns) {
  std::vector<GpuWatch*> added;
  for (GpuWatch* const gpu : gpus.all()) {
    if (!gpu->belongs_to()) continue;
    if (GpuWatch* const moved = follow_move(*gpu)) added.push_back(moved);
  }
  if (!options.list_gpus || now_ns < bus_seen_ns + kBusNs) return added;
  bus_seen_ns = now_ns;
  std::vector<std::string> now = options.list_gpus();
  if (now == bus) return added;
  const std::vector<std::string> before = std::exchange(bus, std::move(now));
  const auto is_in = [](const std::vector<std::string>& list, const std::string& address) {
    return std::ranges::find(list, address) != list.end();
  };
  for (GpuWatch* const gpu : gpus.all()) {
    const std::string address = gpu->place().pci_address;
    if (address.empty()) continue;
    const Presence presence = is_in(bus, address) ? Presence::kPresent : Presence::kAbsent;
    roster.set_presence(gpu->number(), presence, now_ns);
    gpu->set_presence(presence);
    gpu->renumber_soon();
  }
  mark_absent();
  for (const std::string& address : bus) {
    if (is_in(before, address)) continue;
    const auto all = gpus.all();
    if (std::ranges::any_of(all,
                            [&](GpuWatch* gpu) { return gpu->place().pci_address == address; }))
      continue;
    auto gpu = add_gpu(address);
    if (!gpu) base::log(base::LogLevel::kError, gpu.error().message);
    if (!gpu || *gpu == nullptr) continue;
    (*gpu)->set_new();
    added.push_back(*gpu);
  }
  return added;
}

// A GPU that was found at another address goes back to the place that it had.
GpuWatch* Sampler::Parts::follow_move(GpuWatch& gpu) {
  const unsigned home = *gpu.belongs_to();
  const std::string address = gpu.place().pci_address;
  roster.move(gpu.number(), home);
  gpu.move_to("");
  auto moved = watch_place(home, address);
  if (!moved) base::log(base::LogLevel::kError, moved.error().message);
  if (!moved || *moved == nullptr) return nullptr;
  (*moved)->set_new();
  return *moved;
}

bool Sampler::Parts::is_renewal_wanted() const {
  const auto all = gpus.all();
  return std::ranges::any_of(all, [](const GpuWatch* gpu) { return gpu->wants_driver_anew(); });
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
  if (is_bus_known() || !gpus.is_empty()) return;
  if (!options.fenced.empty()) return watch_known();
  const nvml::Answer<unsigned> count = nvml::Device::count(library, node_trace());
  if (!count) return;
  for (unsigned number = 0; number < std::min(*count, roster.size()); ++number) {
    if (std::ranges::find(options.fenced, number) != options.fenced.end()) continue;
    if (const auto gpu = watch_place(number, ""); !gpu) {
      return base::log(base::LogLevel::kError, gpu.error().message);
    }
  }
}

// The driver's own count, and a GPU's number in it, may touch GPUs that hang: those that were read
// before have addresses.
void Sampler::Parts::watch_known() {
  for (unsigned number = 0; number < roster.size(); ++number) {
    const std::string address = roster.address(number);
    if (address.empty() || std::ranges::find(options.fenced, number) != options.fenced.end()) {
      continue;
    }
    roster.set_presence(number, Presence::kPresent, options.clock());
    if (const auto gpu = watch_place(number, address); !gpu) {
      return base::log(base::LogLevel::kError, gpu.error().message);
    }
  }
}

void Sampler::Parts::note_absent(const base::Error& error) {
  for (GpuWatch* const gpu : gpus.all()) {
    const GpuWatch::Place place = gpu->place();
    const std::int64_t now_ns = options.clock();
    describe_unnamed_gpu(file, place.slot, place.number, place.pci_address, now_ns);
    file.set_status(place.slot, gpu->is_present() ? DeviceStatus::kFailed : DeviceStatus::kGone,
                    now_ns);
  }
  tell_absent(error);
}

// Once, and again when it is for another reason.
void Sampler::Parts::tell_absent(const base::Error& error) {
  if (std::exchange(absence, error.message) == error.message) return;
  base::log(base::LogLevel::kWarning, error.message);
  std::string text = error.message;
  // What to do is worth more than a part of it.
  const std::size_t room = catalog::metric(catalog::MetricId::event_text).text_cells * 8 - 1;
  if (!error.hint.empty() && text.size() + 2 + error.hint.size() <= room) {
    text += "; " + error.hint;
  }
  const std::vector<std::uint32_t> nodes = file.slots(Scope::kNode);
  events.add({.kind = EventKind::kDriverAbsent,
              .device = nodes.empty() ? 0 : nodes.front(),
              .text = std::move(text)});
}

void Sampler::Parts::note_back(const nvml::Library& library) {
  if (std::exchange(absence, "").empty()) return;
  base::log(base::LogLevel::kNotice, "the driver is there: " + library.path());
  const std::vector<std::uint32_t> nodes = file.slots(Scope::kNode);
  events.add({.kind = EventKind::kDriverBack,
              .device = nodes.empty() ? 0 : nodes.front(),
              .text = "the driver can be used again: " + library.path()});
}

bool Sampler::Parts::is_driver_gone() const {
  const auto all = gpus.all();
  return std::ranges::any_of(all, [](const GpuWatch* gpu) { return gpu->is_driver_gone(); });
}

void Sampler::Parts::keep_house(std::int64_t now_ns) {
  file.part(Part::kSampler)
      .heartbeat_ns.store(static_cast<std::uint64_t>(now_ns), std::memory_order_release);
  self.write(shared, now_ns);
}

// Once it is open, all GPUs may ask for their events.
void Sampler::Parts::try_events(nvml::Library& library, std::optional<nvml::EventSet>& event_set,
                                Backoff& tries) {
  const bool is_first = tries.next_ns() == 0;
  auto opened = nvml::EventSet::open(library, node_trace());
  if (!opened) {
    tries.fail(options.clock());
    if (!is_first) return;
    return base::log(base::LogLevel::kWarning, fmt::format("no events of the driver's for now: {}",
                                                           catalog::state_name(opened.error())));
  }
  event_set.emplace(std::move(*opened));
  if (is_first) return;
  base::log(base::LogLevel::kNotice, "the driver's events are waited for again");
  for (GpuWatch* const gpu : gpus.all())
    gpu->use_events(*event_set);
}

// One span with the driver: ends when asked to, or when the driver was shut down under us.
void Sampler::Parts::work(nvml::Library& library, const std::stop_token& stop) {
  std::optional<nvml::EventSet> event_set;
  Backoff event_tries(options.retry_ns, options.retry_max_ns);
  if (options.has_events) try_events(library, event_set, event_tries);
  std::vector<std::jthread> threads;
  const auto begin = [&](GpuWatch& gpu) {
    gpu.attach(library, event_set ? &*event_set : nullptr);
    threads.emplace_back([&gpu](const std::stop_token& own) { gpu.run(own); });
  };
  for (GpuWatch* const gpu : gpus.all())
    begin(*gpu);
  const auto begin_events = [&] {
    threads.emplace_back(
        [&, this](const std::stop_token& own) { watch_events(*event_set, gpus, own); });
  };
  if (event_set) begin_events();
  threads.emplace_back([&, this](const std::stop_token& own) {
    watch_pcie(library, gpus, shared, pcie_tally, own);
  });

  Ticker ticker(kSecond, 0, options.clock());
  while (!stop.stop_requested() && !is_driver_gone() && !is_renewal_wanted() && !is_to_end()) {
    const std::int64_t now_ns = options.clock();
    if (ticker.is_due(now_ns)) {
      ticker.take(now_ns);
      keep_house(now_ns);
      for (GpuWatch* const gpu : follow_bus(now_ns))
        begin(*gpu);
      if (options.has_events && !event_set && event_tries.is_due(now_ns)) {
        try_events(library, event_set, event_tries);
        if (event_set) begin_events();
      }
    }
    pause(std::min(ticker.next_ns() - options.clock(), kSecond), stop);
  }
  for (std::jthread& thread : threads)
    thread.request_stop();
  threads.clear();
  for (GpuWatch* const gpu : gpus.all())
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
  if (base::Status added = parts->add_gpus(parts->bus); !added) {
    return std::unexpected(std::move(added.error()));
  }
  parts->mark_absent();
  return std::unique_ptr<Sampler>(new Sampler(std::move(parts)));
}

Sampler::Ended Sampler::run(const std::stop_token& stop) {
  Parts& parts = *parts_;
  recorder::PartSlot& part = parts.file.part(Part::kSampler);
  const std::int64_t started_ns = parts.options.clock();
  part.pid.store(static_cast<std::uint64_t>(::getpid()), std::memory_order_release);
  part.started_ns.store(static_cast<std::uint64_t>(started_ns), std::memory_order_release);
  while (!stop.stop_requested()) {
    parts.keep_house(parts.options.clock());
    if (parts.is_to_end()) return Ended::kNoSlotLeft;
    auto library = parts.open_library();
    if (library) {
      parts.note_back(**library);
      parts.work(**library, stop);
      library->reset();
      // A GPU that was plugged in meanwhile: the others wait for it.
      if (parts.is_renewal_wanted() || parts.is_to_end()) continue;
      if (!stop.stop_requested()) base::log(base::LogLevel::kNotice, "the driver went away");
    } else {
      parts.note_absent(library.error());
    }
    const std::int64_t until_ns = parts.options.clock() + parts.options.retry_ns;
    while (!stop.stop_requested() && parts.options.clock() < until_ns) {
      parts.keep_house(parts.options.clock());
      parts.follow_bus(parts.options.clock());
      pause(std::min(until_ns - parts.options.clock(), kSecond), stop);
    }
  }
  return Ended::kStopped;
}

bool Sampler::lease(std::uint32_t device, std::int64_t until_ns) {
  const std::int64_t now_ns = parts_->options.clock();
  GpuWatch* wanted = nullptr;
  unsigned others = 0;
  for (GpuWatch* const gpu : parts_->gpus.all()) {
    if (gpu->slot() == device) {
      wanted = gpu;
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
  for (GpuWatch* const gpu : parts.gpus.all()) {
    gpu->attach(**library, nullptr);
    gpu->read_all();
  }
  pause(kGpmWindowNs, std::stop_token{});
  for (GpuWatch* const gpu : parts.gpus.all()) {
    gpu->take_gpm();
    gpu->detach();
  }
  return {};
}

}  // namespace everywatt::sampler
