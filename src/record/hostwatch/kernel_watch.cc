// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/kernel_watch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "device/host/pci.h"

namespace everywatt::hostwatch {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using host::KernelFault;

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kReopenNs = 10 * kSecondNs;
// The driver's initialisation may take as long; until then no GPU has an address.
constexpr std::int64_t kWaitForGpusNs = 30 * kSecondNs;
// Records a call: what is left comes with the next one, so that a storm does not hold up the rest.
constexpr std::size_t kMostRecords = 4096;
constexpr std::size_t kMostWaiting = 1024;
constexpr std::size_t kMostKeys = 256;

EventKind kind_of(KernelFault::Kind kind) {
  switch (kind) {
    case KernelFault::Kind::kXid:
      return EventKind::kXid;
    case KernelFault::Kind::kOffBus:
      return EventKind::kGpuLost;
    case KernelFault::Kind::kOutOfMemory:
      return EventKind::kOutOfMemory;
    case KernelFault::Kind::kSwitchXid:
    case KernelFault::Kind::kLink:
      return EventKind::kKernelLine;
  }
  return EventKind::kKernelLine;
}

bool has_code(KernelFault::Kind kind) {
  return kind == KernelFault::Kind::kXid || kind == KernelFault::Kind::kSwitchXid;
}

}  // namespace

KernelWatch::KernelWatch(Options options, const recorder::Reader& reader, ProcessRows& processes,
                         EventWriter& events)
    : options_(std::move(options)), reader_(reader), processes_(processes), events_(events) {}

void KernelWatch::open(const ProcessRows::Moment& moment, Complaints& complaints) {
  if (options_.path.empty() || moment.now_ns < next_open_ns_) return;
  next_open_ns_ = moment.now_ns + kReopenNs;
  auto log = host::KernelLog::open(options_.path);
  if (!log) {
    complaints.failed("kernel log", log.error());
    return;
  }
  complaints.worked("kernel log");
  log_ = std::move(*log);
  opened_ns_ = moment.now_ns;
}

void KernelWatch::take(const ProcessRows::Moment& moment, Complaints& complaints) {
  if (!log_) open(moment, complaints);
  if (!log_) return;
  const host::KernelLog::More more = log_->read(kMostRecords, records_);
  for (const host::KernelRecord& record : records_)
    take_record(record, moment);
  if (more == host::KernelLog::More::kNone) is_live_ = true;
}

void KernelWatch::take_record(const host::KernelRecord& record, const ProcessRows::Moment& moment) {
  if (!is_live_ && record.time_ns <= options_.faults_since_ns) return;
  auto what = host::parse_kernel_fault(record.text);
  if (!what || !concerns_us(*what)) return;
  // A record that we wait for is told when it comes: its own stamp is of another clock.
  const std::int64_t time_ns = is_live_ ? moment.now_ns : std::min(record.time_ns, moment.now_ns);
  receive({.what = std::move(*what), .line = record.text, .time_ns = time_ns}, moment);
}

bool KernelWatch::concerns_us(const KernelFault& fault) const {
  if (fault.kind != KernelFault::Kind::kOutOfMemory) return true;
  return fault.pid && processes_.find_owner(*fault.pid).has_value();
}

void KernelWatch::receive(Fault fault, const ProcessRows::Moment& moment) {
  const bool is_waiting = !fault.what.pci_address.empty() && !knows_gpus() && opened_ns_ &&
                          moment.now_ns - *opened_ns_ < kWaitForGpusNs;
  if (is_waiting) {
    if (waiting_.size() == kMostWaiting) {
      waiting_.pop_front();
      ++dropped_;
    }
    waiting_.push_back(std::move(fault));
    return;
  }
  const Key key{fault.what.kind, fault.what.pci_address, fault.what.code,
                fault.what.pid.value_or(0)};
  const auto known = repeats_.find(key);
  if (known != repeats_.end() && moment.now_ns - known->second.told_ns < kSecondNs) {
    ++known->second.untold;
    known->second.last = std::move(fault);
    return;
  }
  if (known == repeats_.end() && repeats_.size() >= kMostKeys) {
    const auto oldest =
        std::ranges::min_element(repeats_, {}, [](const auto& one) { return one.second.told_ns; });
    if (oldest->second.untold > 0) tell(oldest->second.last, oldest->second.untold, moment);
    repeats_.erase(oldest);
  }
  tell(fault, 1, moment);
  repeats_[key] = {.told_ns = moment.now_ns, .untold = 0, .last = {}};
}

void KernelWatch::tell(const Fault& fault, std::uint64_t times, const ProcessRows::Moment& moment) {
  const auto identity = fault.what.pid ? processes_.look_at(*fault.what.pid, moment) : std::nullopt;
  std::string text = times > 1 ? fmt::format("{} times more: {}", times, fault.line) : fault.line;
  events_.write({.kind = kind_of(fault.what.kind),
                 .source = catalog::EventSource::kKernelLog,
                 .code = has_code(fault.what.kind) ? std::optional<std::uint64_t>(fault.what.code)
                                                   : std::nullopt,
                 .device = find_gpu(fault.what.pci_address),
                 .pid = fault.what.pid,
                 .identity = identity,
                 .wall_ns = moment.wall_ns - (moment.now_ns - fault.time_ns),
                 .text = text},
                fault.time_ns);
}

void KernelWatch::tick(const ProcessRows::Moment& moment, Complaints& complaints) {
  take(moment, complaints);
  if (!waiting_.empty() &&
      (knows_gpus() || moment.now_ns - opened_ns_.value_or(0) >= kWaitForGpusNs)) {
    std::deque<Fault> waiting;
    waiting.swap(waiting_);
    for (Fault& fault : waiting)
      receive(std::move(fault), moment);
  }
  for (auto it = repeats_.begin(); it != repeats_.end();) {
    Repeats& repeats = it->second;
    const bool is_over = moment.now_ns - repeats.told_ns >= kSecondNs;
    if (is_over && repeats.untold > 0) {
      tell(repeats.last, repeats.untold, moment);
      repeats = {.told_ns = moment.now_ns, .untold = 0, .last = {}};
    } else if (is_over) {
      it = repeats_.erase(it);
      continue;
    }
    ++it;
  }
}

std::optional<std::uint32_t> KernelWatch::find_gpu(const std::string& pci_address) {
  if (pci_address.empty()) return std::nullopt;
  catalog::Row once(catalog::Scope::kGpu, catalog::Lane::kOnce);
  for (const recorder::Device& device : reader_.devices()) {
    if (device.scope != catalog::Scope::kGpu || device.parent != recorder::kNoParent) continue;
    const auto ring = reader_.find_ring(device.slot, catalog::Lane::kOnce);
    const std::uint64_t published = ring ? reader_.published(*ring) : 0;
    if (published == 0) continue;
    if (reader_.read(*ring, published - 1, once) != recorder::RowState::kOk) continue;
    const auto address = host::normalize_address(once.text(MetricId::gpu_pci_address));
    if (address == pci_address) return device.slot;
  }
  return std::nullopt;
}

bool KernelWatch::knows_gpus() {
  for (const recorder::Device& device : reader_.devices()) {
    if (device.scope != catalog::Scope::kGpu || device.parent != recorder::kNoParent) continue;
    const auto ring = reader_.find_ring(device.slot, catalog::Lane::kOnce);
    if (ring && reader_.published(*ring) > 0) return true;
  }
  return false;
}

}  // namespace everywatt::hostwatch
