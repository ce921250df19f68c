// SPDX-License-Identifier: Apache-2.0
#include "app/sampler_keeper.h"

#include <fmt/format.h>
#include <csignal>

#include <algorithm>
#include <utility>

#include "app/part.h"
#include "base/log.h"
#include "device/nvml/call.h"

namespace everywatt::app {
namespace {

using catalog::EventKind;
using catalog::Scope;
using recorder::DeviceStatus;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kLongest = 10 * kMinute;
// One that hangs is asked first, for its other threads' sake, but is not expected to answer. With
// the kill and the start of the next one the other GPUs miss less than a second.
constexpr int kHungPatienceMs = 300;
constexpr int kKillPatienceMs = 200;
constexpr int kDrainPatienceMs = 1500;
// One that is still there so long after its kill cannot be killed.
constexpr std::int64_t kUnkillableNs = 2 * kSecond;

bool is_crash(const Ending& ending) {
  constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGSYS};
  return std::ranges::any_of(kCrashes,
                             [&](int number) { return ending.exit_status == 128 + number; });
}

std::string seconds_text(std::int64_t ns) {
  return fmt::format("{:.1f} s", static_cast<double>(ns) / kSecond);
}

}  // namespace

SamplerKeeper::SamplerKeeper(Options options)
    : options_(std::move(options)),
      restarts_(backoff_of_part()),
      starts_of_library_(5 * kSecond, kLongest, 5 * kMinute),
      events_(30 * kSecond, kLongest, 30 * kMinute),
      fences_(options_.first_fence_ns) {
  const auto nodes = options_.file->slots(Scope::kNode);
  if (!nodes.empty()) node_ = nodes.front();
}

std::uint32_t SamplerKeeper::part_slot() const {
  return options_.file->slots(Scope::kPart)[static_cast<unsigned>(recorder::Part::kSampler)];
}

// The GPU that a MIG instance is a part of; any other slot itself.
std::uint32_t SamplerKeeper::gpu_of(std::uint32_t slot) const {
  const std::uint32_t parent = options_.file->device(slot).parent;
  return parent == recorder::kNoParent ? slot : parent;
}

bool SamplerKeeper::is_held(std::uint32_t slot) const {
  return std::ranges::any_of(lingering_, [&](const Lingering& left) {
    return std::ranges::find(left.holders, slot) != left.holders.end();
  });
}

void SamplerKeeper::tick() {
  const std::int64_t now_ns = options_.clock();
  collect_lingering(now_ns);
  if (process_ != nullptr) {
    if (const auto ending = process_->wait_for(0)) {
      process_.reset();
      note_ending(*ending, now_ns);
    }
  }
  if (is_drained_ || is_ending_) return;
  if (process_ != nullptr) watch_calls(now_ns);
  const bool is_any_due =
      fences_.lower_due(now_ns, [this](std::uint32_t gpu) { return is_held(gpu); });
  const bool are_events_due =
      events_at_ns_ != 0 && now_ns >= events_at_ns_ && !is_held(part_slot());
  if (are_events_due) {
    events_at_ns_ = 0;
    events_tried_ns_ = now_ns;
  }
  // The running one leaves them alone for as long as it lives.
  if ((is_any_due || are_events_due) && process_ != nullptr) {
    stop(kHungPatienceMs, {});
    start_at_ns_ = now_ns;
  }
  if (process_ != nullptr || needs_slots_ || is_held(node_)) return;
  if (now_ns >= start_at_ns_) start(options_.clock());
}

void SamplerKeeper::start(std::int64_t now_ns) {
  clear_crumbs();
  auto process = options_.start({.fenced = fences_.gpus(),
                                 .has_events = events_at_ns_ == 0,
                                 .has_fixed_slots = has_fixed_slots_});
  if (!process) {
    start_at_ns_ = now_ns + restarts_.next(0);
    if (const auto told = repeats_.say(process.error().message, now_ns)) {
      base::log(base::LogLevel::kError, *told);
    }
    return;
  }
  process_ = *std::move(process);
  pid_ = static_cast<std::uint64_t>(process_->pid());
  started_ns_ = now_ns;
  recorder::PartSlot& slot = options_.file->part(recorder::Part::kSampler);
  slot.pid.store(pid_);
  slot.started_ns.store(static_cast<std::uint64_t>(now_ns));
  slot.starts.fetch_add(1);
  options_.log->write({.kind = EventKind::kPartStarted,
                       .code = 0,
                       .pid = pid_,
                       .slot = part_slot(),
                       .text = "sampler"});
}

void SamplerKeeper::collect_lingering(std::int64_t now_ns) {
  for (Lingering& left : lingering_) {
    const auto pid = static_cast<std::uint64_t>(left.process->pid());
    if (const auto ending = left.process->wait_for(0)) {
      left.process.reset();
      if (left.is_told) tell_end(pid, ending->exit_status, "sampler: gone at last");
    } else if (!left.is_told && now_ns - left.since_ns >= kUnkillableNs) {
      left.is_told = true;
      tell_end(pid, 128 + SIGKILL,
               "sampler: cannot be killed, the driver holds it; it is left to the kernel");
    }
  }
  std::erase_if(lingering_, [](const Lingering& left) { return left.process == nullptr; });
  const auto unkillable = std::ranges::count_if(lingering_, &Lingering::is_told);
  options_.file->part(recorder::Part::kSupervisor)
      .unkillable.store(static_cast<std::uint64_t>(unkillable));
}

void SamplerKeeper::tell_end(std::uint64_t pid, int exit_status, const std::string& text) {
  if (const auto told = repeats_.say(text, options_.clock())) {
    base::log(base::LogLevel::kWarning, fmt::format("{} (pid {})", *told, pid));
  }
  options_.log->write({.kind = EventKind::kPartEnded,
                       .code = static_cast<std::uint64_t>(exit_status),
                       .pid = pid,
                       .slot = part_slot(),
                       .text = text});
}

void SamplerKeeper::note_ending(const Ending& ending, std::int64_t now_ns) {
  options_.file->part(recorder::Part::kSampler).pid.store(0);
  if (ending.exit_status == kNoSlotLeft) {
    needs_slots_ = true;
    tell_end(pid_, ending.exit_status, "sampler: the recorder has no slot for a new GPU");
    return clear_crumbs();
  }
  start_at_ns_ = now_ns + restarts_.next(now_ns - started_ns_);
  if (is_crash(ending)) {
    note_crash(ending, now_ns);
  } else {
    tell_end(pid_, ending.exit_status, fmt::format("sampler: {}", ending.text));
  }
  clear_crumbs();
}

// The breadcrumbs say in which calls it was. More than the guilty one may have been under way; one
// that is innocent is hardly in a call at the next crash, too.
void SamplerKeeper::note_crash(const Ending& ending, std::int64_t now_ns) {
  std::string calls;
  const std::vector<std::uint32_t> slots = crumbs();
  for (const std::uint32_t slot : slots) {
    const std::uint64_t crumb = options_.file->device(slot).call.load();
    const auto name = nvml::breadcrumb_name(crumb);
    // One thread always waits there.
    if (name == nvml::call_name(nvml::Call::kEventSetWait) && slots.size() > 1) continue;
    calls += fmt::format("{}{}", calls.empty() ? " in " : ", ", name);
  }
  tell_end(pid_, ending.exit_status, fmt::format("sampler: {}{}", ending.text, calls));
  for (const std::uint32_t slot : crumbs()) {
    const auto found = gpu_of_crumb(slot);
    if (!found || !fences_.note_crash(*found, now_ns)) continue;
    const std::uint32_t gpu = *found;
    const auto name = nvml::breadcrumb_name(options_.file->device(slot).call.load());
    const std::string text =
        fmt::format("the driver's library crashed again in {}; left alone for {}", name,
                    seconds_text(fences_.retry_at_ns(gpu) - now_ns));
    base::log(base::LogLevel::kWarning, text);
    options_.file->set_status(gpu, DeviceStatus::kFailed, now_ns);
    options_.log->write(
        {.kind = EventKind::kGpuLost, .code = 0, .pid = 0, .slot = gpu, .text = text});
  }
}

// The GPU that the breadcrumb in a slot is about; nothing: none in particular.
std::optional<std::uint32_t> SamplerKeeper::gpu_of_crumb(std::uint32_t slot) const {
  const std::uint64_t crumb = options_.file->device(slot).call.load();
  const std::uint32_t marked = sampler::marked_slot(crumb).value_or(slot);
  if (marked >= options_.file->device_count() || !is_gpu(marked)) return std::nullopt;
  return gpu_of(marked);
}

bool SamplerKeeper::is_gpu(std::uint32_t slot) const {
  return options_.file->device(slot).scope == static_cast<std::uint32_t>(Scope::kGpu);
}

std::vector<std::uint32_t> SamplerKeeper::crumbs() const {
  std::vector<std::uint32_t> slots;
  for (std::uint32_t slot = 0; slot < options_.file->device_count(); ++slot) {
    if (options_.file->device(slot).call.load() != 0) slots.push_back(slot);
  }
  return slots;
}

// The threads that left them are gone with their process.
void SamplerKeeper::clear_crumbs() {
  for (const std::uint32_t slot : crumbs())
    options_.file->device(slot).call.store(0);
}

void SamplerKeeper::watch_calls(std::int64_t now_ns) {
  const auto stuck = sampler::find_stuck_calls(*options_.file, now_ns, options_.deadlines);
  if (stuck.empty()) return;
  std::vector<std::uint32_t> holders;
  std::int64_t start_at_ns = now_ns;
  for (const sampler::StuckCall& call : stuck) {
    const std::string text = fmt::format("{} has not returned for {}", nvml::call_name(call.call),
                                         seconds_text(now_ns - call.since_ns));
    base::log(base::LogLevel::kWarning, text);
    const std::uint32_t gpu = gpu_of(call.device);
    const bool is_of_events = call.call == nvml::Call::kEventSetWait;
    holders.push_back(is_of_events ? part_slot() : gpu);
    if (is_gpu(gpu)) {
      fence(gpu, DeviceStatus::kTimedOut, text, now_ns);
      continue;
    }
    if (is_of_events) {
      events_at_ns_ = now_ns + events_.next(now_ns - events_tried_ns_);
    } else {
      set_all_gpus(DeviceStatus::kTimedOut, now_ns);
      start_at_ns = now_ns + starts_of_library_.next(now_ns - started_ns_);
    }
    options_.log->write(
        {.kind = EventKind::kTimedOut, .code = 0, .pid = 0, .slot = node_, .text = text});
  }
  stop(kHungPatienceMs, std::move(holders));
  start_at_ns_ = start_at_ns;
}

void SamplerKeeper::fence(std::uint32_t gpu, DeviceStatus status, const std::string& text,
                          std::int64_t now_ns) {
  fences_.raise(gpu, now_ns);
  options_.file->set_status(gpu, status, now_ns);
  for (const std::uint32_t mig : options_.file->slots(Scope::kGpu, gpu)) {
    if (options_.file->device(mig).status.load() == static_cast<std::uint64_t>(DeviceStatus::kOk)) {
      options_.file->set_status(mig, status, now_ns);
    }
  }
  options_.log->write(
      {.kind = EventKind::kTimedOut, .code = 0, .pid = 0, .slot = gpu, .text = text});
}

// Those that are there and not left alone for another reason.
void SamplerKeeper::set_all_gpus(DeviceStatus status, std::int64_t now_ns) {
  for (std::uint32_t slot = 0; slot < options_.file->device_count(); ++slot) {
    const recorder::DeviceSlot& device = options_.file->device(slot);
    if (!is_gpu(slot)) continue;
    const auto now = static_cast<DeviceStatus>(device.status.load());
    if (now == DeviceStatus::kUnused || now == DeviceStatus::kGone) continue;
    options_.file->set_status(slot, status, now_ns);
  }
}

// Ends the process. One that is not gone soon is kept with the slots that hold it.
void SamplerKeeper::stop(int patience_ms, std::vector<std::uint32_t> holders) {
  if (process_ == nullptr) return;
  process_->signal(SIGTERM);
  auto ending = process_->wait_for(patience_ms);
  if (!ending) {
    if (holders.empty()) {
      for (const std::uint32_t slot : crumbs())
        holders.push_back(gpu_of_crumb(slot).value_or(slot));
    }
    if (holders.empty()) holders.push_back(node_);
    process_->signal(SIGKILL);
    ending = process_->wait_for(kKillPatienceMs);
  }
  options_.file->part(recorder::Part::kSampler).pid.store(0);
  if (ending) {
    tell_end(pid_, ending->exit_status, fmt::format("sampler: {}", ending->text));
    process_.reset();
  } else {
    // No thread of it comes back from the kernel to our code: it writes no more.
    lingering_.push_back({.process = std::move(process_),
                          .holders = std::move(holders),
                          .since_ns = options_.clock()});
  }
  clear_crumbs();
}

base::Status SamplerKeeper::drain() {
  if (!std::exchange(is_drained_, true)) {
    stop(kDrainPatienceMs, {});
    const std::int64_t now_ns = options_.clock();
    set_all_gpus(DeviceStatus::kDrained, now_ns);
    options_.log->write({.kind = EventKind::kDrained,
                         .code = 0,
                         .pid = 0,
                         .slot = node_,
                         .text = "the driver was let go of on request"});
  }
  collect_lingering(options_.clock());
  if (lingering_.empty()) return {};
  return base::fail(base::Code::kUnavailable,
                    fmt::format("process {} cannot be killed and still holds the driver",
                                lingering_.front().process->pid()),
                    "a driver call of it does not return; only a reset or a reboot ends it");
}

void SamplerKeeper::resume() {
  if (!std::exchange(is_drained_, false)) return;
  fences_.lower_all([this](std::uint32_t gpu) { return is_held(gpu); });
  for (const std::uint32_t gpu : fences_.gpus())
    options_.file->set_status(gpu, DeviceStatus::kTimedOut, options_.clock());
  options_.log->write({.kind = EventKind::kResumed,
                       .code = 0,
                       .pid = 0,
                       .slot = node_,
                       .text = "the driver is taken up again"});
  start_at_ns_ = 0;
  tick();
}

void SamplerKeeper::continue_on(recorder::File& file, Slots slots) {
  options_.file = &file;
  has_fixed_slots_ = slots == Slots::kFixed;
  needs_slots_ = false;
  start_at_ns_ = 0;
  tick();
}

void SamplerKeeper::ask_to_end() {
  is_ending_ = true;
  if (process_ != nullptr) process_->signal(SIGTERM);
}

void SamplerKeeper::kill() {
  if (process_ != nullptr) process_->signal(SIGKILL);
}

bool SamplerKeeper::wait_for_end(int timeout_ms) {
  if (process_ == nullptr) return true;
  if (!process_->wait_for(timeout_ms)) return false;
  process_.reset();
  return true;
}

}  // namespace everywatt::app
