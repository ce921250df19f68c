// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/gpu_watch.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "record/sampler/unnamed_gpu.h"

namespace everywatt::sampler {
namespace {

using catalog::EventKind;
using catalog::State;
using recorder::DeviceStatus;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kPowerCheckNs = 10 * kSecond;
constexpr std::int64_t kSuspendedCheckNs = kSecond;
constexpr std::int64_t kRenumberNs = 10 * kSecond;
// No sleep is longer: a clock that jumps (suspend) and a lost wake-up cost no more than this.
constexpr std::int64_t kLongestSleepNs = kSecond / 2;

DeviceStatus status_of(State why) {
  switch (why) {
    case State::kLost:
      return DeviceStatus::kLost;
    case State::kTimedOut:
      return DeviceStatus::kTimedOut;
    default:
      return DeviceStatus::kFailed;
  }
}

}  // namespace

base::Result<std::unique_ptr<GpuWatch>> GpuWatch::open(const Shared& shared, const Place& place) {
  auto lanes = DeviceLanes::open(shared, place.slot, place.number, DeviceKind::kGpu);
  if (!lanes) return std::unexpected(std::move(lanes.error()));
  auto faults = shared.file.writer(place.slot, catalog::Lane::kFaults);
  if (!faults) return std::unexpected(std::move(faults.error()));
  return std::unique_ptr<GpuWatch>(new GpuWatch(shared, place, std::move(*lanes), *faults));
}

GpuWatch::GpuWatch(const Shared& shared, const Place& place, std::unique_ptr<DeviceLanes> lanes,
                   recorder::Writer faults)
    : shared_(shared),
      place_(place),
      lanes_(std::move(lanes)),
      faults_(faults),
      backoff_(shared.options.retry_ns, shared.options.retry_max_ns),
      registering_(shared.options.retry_ns, shared.options.retry_max_ns) {}

void GpuWatch::attach(nvml::Library& library, nvml::EventSet* events) {
  library_ = &library;
  events_.store(events, std::memory_order_release);
  reset_condition();
  backoff_.succeed();
  is_driver_gone_.store(false, std::memory_order_relaxed);
  wants_driver_anew_.store(false, std::memory_order_relaxed);
  may_renew_driver_ = false;
  is_opening_.store(true, std::memory_order_release);
}

void GpuWatch::use_events(nvml::EventSet& events) {
  events_.store(&events, std::memory_order_release);
  wake();
}

void GpuWatch::detach() {
  is_opening_.store(false, std::memory_order_release);
  handle_.store(nullptr, std::memory_order_release);
  wants_pcie_.store(false, std::memory_order_relaxed);
  for (const auto& mig : migs_) {
    if (mig->is_begun()) mig->end(State::kNotRead);
  }
  if (lanes_->is_begun()) lanes_->end(State::kNotRead);
  reset_condition();
  library_ = nullptr;
  events_.store(nullptr, std::memory_order_release);
}

// What has nothing to do with the driver stays.
void GpuWatch::reset_condition() {
  if (condition_ == Condition::kGone || condition_ == Condition::kElsewhere) return;
  condition_ = Condition::kClosed;
}

// A GPU that the kernel has powered down would wake up if its driver were asked anything.
bool GpuWatch::is_suspended() const {
  if (place_.pci_address.empty()) return false;
  const base::Result<std::string> status =
      base::read_file(fmt::format("{}/sys/bus/pci/devices/{}/power/runtime_status",
                                  shared_.options.host_root, place_.pci_address));
  return status && base::trim(*status) == "suspended";
}

// A GPU that has fallen off the bus answers the kernel with all ones.
bool GpuWatch::is_silent_on_bus() const {
  if (place_.pci_address.empty()) return false;
  const std::string path = fmt::format("{}/sys/bus/pci/devices/{}/config",
                                       shared_.options.host_root, place_.pci_address);
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<unsigned char, 4> vendor{};
  if (!fd.is_open() || ::pread(fd.get(), vendor.data(), vendor.size(), 0) != std::ssize(vendor)) {
    return false;
  }
  return std::ranges::all_of(vendor, [](unsigned char byte) { return byte == 0xff; });
}

GpuWatch::Place GpuWatch::place() const {
  const std::lock_guard lock(mutex_);
  return place_;
}

void GpuWatch::set_presence(Presence presence) {
  const bool is_present = presence == Presence::kPresent;
  if (is_present_.exchange(is_present, std::memory_order_acq_rel) != is_present) wake();
}

void GpuWatch::set_new() {
  is_new_.store(true, std::memory_order_release);
}

void GpuWatch::move_to(const std::string& pci_address) {
  {
    const std::lock_guard lock(mutex_);
    wished_address_ = pci_address;
  }
  set_presence(pci_address.empty() ? Presence::kAbsent : Presence::kPresent);
  wake();
}

std::optional<unsigned> GpuWatch::belongs_to() const {
  const int place = belongs_to_.load(std::memory_order_acquire);
  if (place < 0) return std::nullopt;
  return static_cast<unsigned>(place);
}

void GpuWatch::renumber_soon() {
  wants_number_.store(true, std::memory_order_relaxed);
  wake();
}

void GpuWatch::take_place() {
  {
    const std::lock_guard lock(mutex_);
    if (!wished_address_) return;
    place_.pci_address = std::move(*wished_address_);
    wished_address_.reset();
  }
  belongs_to_.store(-1, std::memory_order_release);
  if (condition_ == Condition::kElsewhere) condition_ = Condition::kClosed;
  if (!place_.pci_address.empty()) return;
  // It was never anything but the way to another place.
  condition_ = Condition::kGone;
  was_lost_ = was_gone_ = false;
  shared_.file.set_status(place_.slot, DeviceStatus::kUnused, shared_.options.clock());
}

// The kernel does not list it any more.
void GpuWatch::leave(std::int64_t now_ns) {
  wants_pcie_.store(false, std::memory_order_relaxed);
  for (const auto& mig : migs_) {
    if (!mig->is_begun()) continue;
    mig->end(State::kLost);
    shared_.file.set_status(mig->slot(), DeviceStatus::kGone, now_ns);
  }
  if (lanes_->is_begun()) lanes_->end(State::kLost);
  set_status(DeviceStatus::kGone, now_ns);
  shared_.events.add({.kind = EventKind::kGpuRemoved,
                      .device = place_.slot,
                      .text = fmt::format("removed from the machine: {}", place_.pci_address)});
  condition_ = Condition::kGone;
  was_lost_ = was_silent_ = false;
  was_gone_ = true;
}

void GpuWatch::renumber(std::int64_t now_ns) {
  const bool is_wanted = wants_number_.exchange(false, std::memory_order_relaxed);
  if (!is_wanted && now_ns < renumbered_ns_ + kRenumberNs) return;
  renumbered_ns_ = now_ns;
  if (!lanes_->device().renumber()) return;
  shared_.file.device(place_.slot).index.store(lanes_->device().index(), std::memory_order_release);
  lanes_->read_identity_soon();
}

void GpuWatch::set_status(DeviceStatus status, std::int64_t now_ns) {
  if (status != DeviceStatus::kOk) {
    describe_unnamed_gpu(shared_.file, place_.slot, place_.number, place_.pci_address, now_ns);
  }
  shared_.file.set_status(place_.slot, status, now_ns);
}

void GpuWatch::try_open(std::int64_t now_ns) {
  recorder::DeviceSlot& slot = shared_.file.device(place_.slot);
  const nvml::CallTrace trace{
      .call = &slot.call, .since_ns = &slot.call_since_ns, .tally = &lanes_->tally().calls()};
  nvml::Answer<nvml::Device> device =
      place_.pci_address.empty() ? nvml::Device::open_nth(*library_, place_.number, trace)
                                 : nvml::Device::open_at(*library_, place_.pci_address, trace);
  if (!device) {
    if (device.error() == State::kLost && std::exchange(may_renew_driver_, false)) {
      wants_driver_anew_.store(true, std::memory_order_relaxed);
      return backoff_.fail(now_ns);
    }
    return close(device.error(), now_ns);
  }
  if (shared_.roster != nullptr && !place_.pci_address.empty()) {
    if (const auto other = shared_.roster->find_absent(device->uuid());
        other && *other != place_.number) {
      condition_ = Condition::kElsewhere;
      belongs_to_.store(static_cast<int>(*other), std::memory_order_release);
      return;
    }
    shared_.roster->set_uuid(place_.number, device->uuid());
  }

  slot.index.store(device->index(), std::memory_order_release);
  const nvml::abi::Device handle = device->handle();
  lanes_->begin(std::move(*device));
  set_status(DeviceStatus::kOk, now_ns);
  // Not before the rows of this GPU begin, or nobody would see its zeros.
  faults_.begin(lanes_->begun_as(), shared_.options.clock());
  handle_.store(handle, std::memory_order_release);
  has_registered_ = false;
  registering_.succeed();
  register_events(now_ns);
  tell_opened();
  condition_ = Condition::kOpen;
  renumbered_ns_ = now_ns;
  migs_checked_ns_ = 0;
  backoff_.succeed();
}

// What fails now may succeed later; a GPU without events says so once for all.
void GpuWatch::register_events(std::int64_t now_ns) {
  nvml::EventSet* const events = events_.load(std::memory_order_acquire);
  if (events == nullptr || has_registered_ || !registering_.is_due(now_ns)) return;
  is_opening_.store(true, std::memory_order_release);
  const State state = events->watch(lanes_->device());
  has_registered_ = state == State::kOk || state == State::kNotSupported;
  if (!has_registered_) registering_.fail(now_ns);
}

void GpuWatch::tell_opened() {
  const bool was_lost = std::exchange(was_lost_, false);
  if (std::exchange(was_gone_, false)) {
    shared_.events.add({.kind = EventKind::kGpuAdded,
                        .device = place_.slot,
                        .text = fmt::format("added to the machine: {}", place_.pci_address)});
  } else if (was_lost) {
    shared_.events.add(
        {.kind = EventKind::kGpuBack, .device = place_.slot, .text = "the GPU can be read again"});
  }
}

void GpuWatch::close(State why, std::int64_t now_ns) {
  // Its handle stays: what the driver tells of it now is why it is lost.
  wants_pcie_.store(false, std::memory_order_relaxed);
  for (const auto& mig : migs_) {
    if (!mig->is_begun()) continue;
    mig->end(why);
    shared_.file.set_status(mig->slot(), status_of(why), now_ns);
  }
  if (lanes_->is_begun()) lanes_->end(why);
  set_status(status_of(why), now_ns);
  if (!std::exchange(was_lost_, true)) {
    shared_.events.add({.kind = EventKind::kGpuLost,
                        .device = place_.slot,
                        .text = why == State::kLost ? "the GPU is gone from the bus"
                                                    : fmt::format("the GPU cannot be read: {}",
                                                                  catalog::state_name(why))});
  }
  condition_ = Condition::kClosed;
  backoff_.fail(now_ns);
  if (library_ != nullptr && library_->is_shut()) {
    is_driver_gone_.store(true, std::memory_order_relaxed);
  }
}

// Whether the kernel lists it, and there is no other place for it.
bool GpuWatch::is_to_be_read(std::int64_t now_ns) {
  take_place();
  if (!is_present()) {
    if (condition_ != Condition::kGone) leave(now_ns);
    return false;
  }
  if (condition_ == Condition::kGone || is_new_.exchange(false, std::memory_order_acq_rel)) {
    condition_ = Condition::kClosed;
    backoff_.succeed();
    power_checked_ns_ = 0;
    may_renew_driver_ = was_gone_ = true;
  }
  return condition_ != Condition::kElsewhere;
}

void GpuWatch::run_due() {
  const std::int64_t now_ns = shared_.options.clock();
  if (!is_to_be_read(now_ns)) return;
  if (now_ns >= power_checked_ns_) {
    const bool is_asleep = is_suspended();
    power_checked_ns_ = now_ns + (is_asleep ? kSuspendedCheckNs : kPowerCheckNs);
    if (is_asleep && condition_ != Condition::kSuspended) {
      if (lanes_->is_begun()) lanes_->end(State::kNotRead);
      handle_.store(nullptr, std::memory_order_release);
      // The call would wake it.
      wants_pcie_.store(false, std::memory_order_relaxed);
      set_status(DeviceStatus::kSuspended, now_ns);
      condition_ = Condition::kSuspended;
    } else if (!is_asleep && condition_ == Condition::kSuspended) {
      condition_ = Condition::kClosed;
      backoff_.succeed();
    }
  }
  if (condition_ == Condition::kSuspended) return;
  if (condition_ == Condition::kClosed) {
    if (!backoff_.is_due(now_ns)) return;
    if (was_lost_ && is_silent_on_bus()) {
      was_silent_ = true;
      return backoff_.fail(now_ns);
    }
    if (std::exchange(was_silent_, false)) may_renew_driver_ = true;
    try_open(now_ns);
    if (condition_ != Condition::kOpen) return;
  }
  take_wishes();
  register_events(now_ns);
  renumber(now_ns);
  State state = now_ns >= migs_checked_ns_ ? refresh_migs(now_ns) : State::kOk;
  if (state == State::kOk) state = lanes_->run_due();
  if (state != State::kOk) {
    // The driver was shut or reloaded: every handle is void, and the library has to be opened anew.
    if (state == State::kFailed) is_driver_gone_.store(true, std::memory_order_relaxed);
    return close(state, now_ns);
  }
  wants_pcie_.store(!lanes_->has_gpm() && shared_.options.gpm_pace != GpmPace::kOff,
                    std::memory_order_relaxed);
  run_migs();
}

void GpuWatch::take_wishes() {
  if (wants_rows_.exchange(false, std::memory_order_relaxed)) lanes_->read_soon();
  if (wants_migs_.exchange(false, std::memory_order_relaxed)) migs_checked_ns_ = 0;
}

std::int64_t GpuWatch::next_ns() const {
  switch (condition_) {
    case Condition::kGone:
    case Condition::kElsewhere:
      return shared_.options.clock() + kLongestSleepNs;
    case Condition::kSuspended:
      return power_checked_ns_;
    case Condition::kClosed:
      return std::min(backoff_.next_ns(), power_checked_ns_);
    case Condition::kOpen:
      break;
  }
  std::int64_t next = std::min(lanes_->next_ns(), migs_checked_ns_);
  for (const auto& mig : migs_) {
    if (mig->is_begun()) next = std::min(next, mig->next_ns());
  }
  return next;
}

void GpuWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested() && !is_driver_gone()) {
    run_due();
    is_opening_.store(false, std::memory_order_release);
    const std::int64_t sleep_ns = std::min(next_ns() - shared_.options.clock(), kLongestSleepNs);
    if (sleep_ns <= 0) continue;
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, stop, std::chrono::nanoseconds(sleep_ns), [this] { return is_woken_; });
    is_woken_ = false;
  }
}

void GpuWatch::wake() {
  {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
  }
  woken_.notify_all();
}

void GpuWatch::read_all() {
  const std::int64_t now_ns = shared_.options.clock();
  if (is_suspended()) return set_status(DeviceStatus::kSuspended, now_ns);
  try_open(now_ns);
  if (condition_ != Condition::kOpen) return;
  State state = refresh_migs(now_ns);
  if (state == State::kOk) state = lanes_->read_all();
  if (state != State::kOk) return close(state, now_ns);
  for (const auto& mig : migs_) {
    if (mig->is_begun()) static_cast<void>(mig->read_all());
  }
}

void GpuWatch::take_gpm() {
  if (lanes_->is_begun()) lanes_->read_gpm();
  for (const auto& mig : migs_) {
    if (mig->is_begun()) mig->read_gpm();
  }
}

void GpuWatch::on_event(const nvml::Event& event) {
  const std::int64_t now_ns = shared_.options.clock();
  switch (event.type) {
    case nvml::EventType::kXid: {
      faults_.add(event.number, now_ns);
      std::string text = fmt::format("XID {}", event.number);
      if (event.gpu_instance_id != nvml::abi::kInstanceNone) {
        text += fmt::format(" in GPU instance {}", event.gpu_instance_id);
      }
      shared_.events.add({.kind = EventKind::kXid,
                          .source = catalog::EventSource::kNvml,
                          .code = event.number,
                          .device = place_.slot,
                          .text = std::move(text)});
      break;
    }
    case nvml::EventType::kMigChanged:
      shared_.events.add({.kind = EventKind::kMigChanged,
                          .source = catalog::EventSource::kNvml,
                          .device = place_.slot,
                          .text = "the MIG layout changed"});
      wants_migs_.store(true, std::memory_order_relaxed);
      break;
    // Their number is told by the slow lane, which is read for it.
    case nvml::EventType::kSingleBitEcc:
    case nvml::EventType::kDoubleBitEcc:
    case nvml::EventType::kOther:
      break;
  }
  wants_rows_.store(true, std::memory_order_relaxed);
  wake();
}

}  // namespace everywatt::sampler
