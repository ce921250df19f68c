// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/device_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "record/sampler/coverage.h"
#include "record/sampler/slow_changes.h"

namespace everywatt::sampler {
namespace {

using catalog::EventKind;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::State;
using CatalogLane = catalog::Lane;

constexpr std::int64_t kTotalsNs = 1'000'000'000;
constexpr std::int64_t kMs = 1'000'000;
// The slow lanes of the GPUs begin this much after each other: their dear calls do not queue up.
constexpr std::int64_t kSpreadNs = 1'100 * kMs;
// Above this share of busy time counters that stand still are dead, not idle.
constexpr double kBusyRatio = 0.05;
constexpr std::int64_t kUtilizationIsFreshNs = 1'000 * kMs;
// Rows missing for longer than this are worth an event.
constexpr std::int64_t kGapNs = 5'000 * kMs;

CatalogLane catalog_lane(int lane) {
  constexpr std::array kLanes = {CatalogLane::kGauge,   CatalogLane::kGpm,  CatalogLane::kPower,
                                 CatalogLane::kProcess, CatalogLane::kSlow, CatalogLane::kTotals};
  return kLanes[static_cast<std::size_t>(lane)];
}

std::string_view reason_text(std::uint64_t bit) {
  switch (bit) {
    case 0x8:
      return "a hardware slowdown";
    case 0x20:
      return "the driver's thermal limit";
    case 0x40:
      return "the hardware's thermal limit";
    case 0x80:
      return "the power brake";
    default:
      return "another reason";
  }
}

}  // namespace

Tally& TallyBook::add() {
  const std::lock_guard lock(mutex_);
  return tallies_.emplace_back();
}

void TallyBook::visit(const std::function<void(Tally&)>& visit) {
  const std::lock_guard lock(mutex_);
  for (Tally& tally : tallies_)
    visit(tally);
}

void PcieReadings::set(const nvml::PcieThroughput& throughput) {
  const std::lock_guard lock(mutex_);
  throughput_ = throughput;
}

nvml::PcieThroughput PcieReadings::get() const {
  const std::lock_guard lock(mutex_);
  return throughput_;
}

base::Result<std::unique_ptr<DeviceLanes>> DeviceLanes::open(const Shared& shared,
                                                             std::uint32_t slot, unsigned place,
                                                             DeviceKind kind) {
  base::Error error;
  const auto take = [&](CatalogLane lane) -> std::optional<recorder::Writer> {
    base::Result<recorder::Writer> writer = shared.file.writer(slot, lane);
    if (writer) return *writer;
    error = std::move(writer.error());
    return std::nullopt;
  };
  const auto gauge = take(CatalogLane::kGauge);
  const auto gpm = take(CatalogLane::kGpm);
  const auto process = take(CatalogLane::kProcess);
  const auto slow = take(CatalogLane::kSlow);
  const auto once = take(CatalogLane::kOnce);
  const auto totals = take(CatalogLane::kTotals);
  // The power buffer is the board's.
  const auto power = kind == DeviceKind::kGpu ? take(CatalogLane::kPower) : std::nullopt;
  if (!gauge || !gpm || !process || !slow || !once || !totals ||
      (kind == DeviceKind::kGpu && !power)) {
    return std::unexpected(std::move(error));
  }
  const Rings rings{.gauge = *gauge,
                    .power = power,
                    .gpm = *gpm,
                    .process = *process,
                    .slow = *slow,
                    .once = *once,
                    .totals = *totals};
  return std::unique_ptr<DeviceLanes>(new DeviceLanes(shared, slot, place, kind, rings));
}

DeviceLanes::DeviceLanes(const Shared& shared, std::uint32_t slot, unsigned place, DeviceKind kind,
                         const Rings& rings)
    : shared_(shared),
      slot_(slot),
      kind_(kind),
      tally_(shared.tallies.add()),
      gauge_writer_(rings.gauge),
      slow_writer_(rings.slow),
      once_writer_(rings.once),
      gpm_(rings.gpm),
      process_(rings.process),
      totals_(rings.totals),
      tickers_(make_tickers(shared.options, kind, place)) {
  if (rings.power) power_.emplace(*rings.power);
}

DeviceLanes::Tickers DeviceLanes::make_tickers(const Options& options, DeviceKind kind,
                                               unsigned place) {
  const Periods& p = options.periods;
  const bool is_mig = kind == DeviceKind::kMigInstance;
  const std::int64_t now_ns = options.clock();
  const auto ticker = [&](std::int64_t period_ns, std::int64_t phase_ns = 0) {
    return Ticker(is_mig ? std::max(period_ns, p.mig_ns) : period_ns, phase_ns, now_ns);
  };
  const std::int64_t slow_phase_ns = place * kSpreadNs / p.gauge_ns * p.gauge_ns;
  return {ticker(p.gauge_ns),
          ticker(p.gpm_ns),
          ticker(p.power_drain_ns),
          ticker(p.process_ns),
          ticker(p.slow_ns, slow_phase_ns),
          ticker(kTotalsNs)};
}

GpuIs DeviceLanes::recognize() const {
  Row last(catalog::Scope::kGpu, CatalogLane::kOnce);
  if (!once_writer_.read_last(last)) return GpuIs::kAnother;
  return last.text(MetricId::gpu_uuid) == device_->uuid() ? GpuIs::kTheSame : GpuIs::kAnother;
}

void DeviceLanes::begin(nvml::Device device) {
  device_.emplace(std::move(device));
  device_->count_into(tally_.calls());
  const std::int64_t now = now_ns();
  const GpuIs gpu = begun_as_ = recognize();
  if (gpu == GpuIs::kAnother) {
    // What the rings hold was of another device, or nothing.
    shared_.file.device(slot_).rows_before.store(static_cast<std::uint64_t>(now),
                                                 std::memory_order_release);
  } else {
    report_gap(now);
  }
  forget_absences();
  process_.reset();
  if (power_) power_->reset();
  if (gpu == GpuIs::kAnother || !gauge_writer_.read_last(gauge_seen_)) gauge_seen_.clear();
  if (gpu == GpuIs::kAnother || !slow_writer_.read_last(slow_seen_)) slow_seen_.clear();
  totals_.begin(gpu, {.last_gauge = gauge_seen_,
                      .last_slow = slow_seen_,
                      .power_limit_max_watts = device_->power_limit_max_watts(),
                      .gauge_period_ns = tickers_[kGauge].period_ns()});
  slow_before_.clear();
  utilization_.reset();
  is_identity_due_ = true;
  if (shared_.options.gpm_pace != GpmPace::kOff) gpm_.begin(*device_, now);
  for (Ticker& ticker : tickers_) {
    ticker = Ticker(ticker.period_ns(), ticker.phase_ns(), now);
    ticker.hurry(now);
  }
  // Instances come while there are readers: none is to be seen without its name. It is short.
  if (kind_ == DeviceKind::kMigInstance) {
    is_identity_due_ = false;
    read_identity();
  }
}

void DeviceLanes::forget_absences() {
  gauge_reader_.reset();
  slow_reader_.reset();
}

// The same GPU as before, but nobody was looking meanwhile.
void DeviceLanes::report_gap(std::int64_t now) {
  Row last(catalog::Scope::kGpu, CatalogLane::kGauge);
  if (!gauge_writer_.read_last(last) || now - last.time_ns < kGapNs) return;
  const auto seconds = static_cast<std::uint64_t>((now - last.time_ns) / 1'000'000'000);
  shared_.events.add({.kind = EventKind::kCoverageLost,
                      .code = seconds,
                      .device = slot_,
                      .text = fmt::format("no readings for {} s", seconds)});
}

void DeviceLanes::end(State why) {
  const std::int64_t now = now_ns();
  gpm_.end();
  policy_.see_processes({});
  device_.reset();
  if (why == State::kNotRead) return write_totals();
  gauge_.clear();
  gauge_.time_ns = now;
  gauge_.set_all_absent(why);
  totals_.see_gauge(gauge_);
  gauge_writer_.append(gauge_);
  slow_.clear();
  slow_.time_ns = now;
  slow_.set_all_absent(why);
  slow_writer_.append(slow_);
  if (power_) power_->write_absent(why, now);
  gpm_.write_absent(why, now);
  process_.write_absent(why, now);
  write_totals();
}

State DeviceLanes::read_all() {
  for (int lane = 0; lane < kLanes; ++lane) {
    run(static_cast<Lane>(lane));
    if (const State condition = device_->take_condition(); condition != State::kOk) {
      return condition;
    }
  }
  return State::kOk;
}

State DeviceLanes::run_due() {
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t now = now_ns();
    Ticker& ticker = tickers_[static_cast<std::size_t>(lane)];
    if (!ticker.is_due(now)) continue;
    tally_.count_tick(catalog_lane(lane), ticker.take(now));
    run(static_cast<Lane>(lane));
    if (const State condition = device_->take_condition(); condition != State::kOk) {
      return condition;
    }
  }
  return State::kOk;
}

std::int64_t DeviceLanes::next_ns() const {
  return std::ranges::min(tickers_, {}, &Ticker::next_ns).next_ns();
}

void DeviceLanes::read_soon() {
  const std::int64_t now = now_ns();
  tickers_[kSlow].hurry(now);
  tickers_[kTotals].hurry(now);
}

void DeviceLanes::read_identity_soon() {
  is_identity_due_ = true;
  tickers_[kGauge].hurry(now_ns());
}

void DeviceLanes::run(Lane lane) {
  const std::int64_t cpu_before_ns = base::thread_cpu_ns();
  switch (lane) {
    case kGauge:
      read_gauge();
      // After what people wait for: the identity takes some 0.2 s on a real GPU.
      if (std::exchange(is_identity_due_, false)) read_identity();
      // What a new driver took away is told after the change of driver.
      if (std::exchange(gauge_seen_.time_ns, 0) != 0) report_lost_metrics(gauge_seen_, gauge_);
      break;
    case kGpm:
      read_gpm();
      break;
    case kPower:
      read_power();
      break;
    case kProcess:
      read_processes();
      break;
    case kSlow:
      read_slow();
      break;
    case kTotals:
      write_totals();
      break;
    case kLanes:
      break;
  }
  const std::int64_t cpu_ns = base::thread_cpu_ns() - cpu_before_ns;
  tally_.count_cpu(catalog_lane(lane), cpu_ns);
  // The allowance is for what is beyond the slow pace, which every GPU has.
  const bool is_fast = tickers_[kGpm].period_ns() < shared_.options.periods.gpm_ns;
  if (lane == kGpm && is_fast) shared_.gpm_allowance.spend(cpu_ns);
}

void DeviceLanes::read_gauge() {
  gauge_.clear();
  gauge_.time_ns = now_ns();
  gauge_reader_.read(*device_, tickers_[kGauge].period_ns(), gauge_);
  gauge_writer_.append(gauge_);
  totals_.see_gauge(gauge_);
  readings_ += count_values(gauge_);
  const Reading utilization = gauge_.reading(MetricId::gpu_utilization_ratio);
  if (utilization.is_ok()) {
    utilization_ = utilization.f64();
    utilization_ns_ = gauge_.time_ns;
    policy_.see_utilization(*utilization_, gauge_.time_ns);
  }
  note_throttling();
  set_gpm_pace(gauge_.time_ns);
}

void DeviceLanes::note_throttling() {
  const Reading mask = gauge_.reading(MetricId::gpu_clock_event_reasons_mask);
  if (!mask.is_ok()) return;
  for (const ThrottleWatch::Change& change : throttle_.see(mask.u64(), gauge_.time_ns)) {
    shared_.events.add(
        {.kind = change.is_start ? EventKind::kThrottleStart : EventKind::kThrottleEnd,
         .code = change.bit,
         .device = slot_,
         .text = fmt::format("{} {}", reason_text(change.bit),
                             change.is_start ? "slows the clocks down" : "is over")});
  }
}

nvml::Elsewhere DeviceLanes::elsewhere() const {
  if (!utilization_ || now_ns() - utilization_ns_ > kUtilizationIsFreshNs) {
    return nvml::Elsewhere::kUnknown;
  }
  return *utilization_ > kBusyRatio ? nvml::Elsewhere::kBusy : nvml::Elsewhere::kIdle;
}

void DeviceLanes::set_gpm_pace(std::int64_t now) {
  const Options& options = shared_.options;
  if (!gpm_.is_open() || kind_ == DeviceKind::kMigInstance) return;
  const bool is_fast = options.gpm_pace == GpmPace::kFast ||
                       (options.gpm_pace == GpmPace::kAdaptive && policy_.wants_fast(now) &&
                        shared_.gpm_allowance.has_room(now));
  tickers_[kGpm].set_period(is_fast ? options.periods.gpm_fast_ns : options.periods.gpm_ns, now);
}

void DeviceLanes::read_gpm() {
  if (shared_.options.gpm_pace == GpmPace::kOff) {
    return gpm_.write_absent(State::kNotRead, now_ns());
  }
  const Row* row = gpm_.tick(*device_, now_ns(), elsewhere());
  if (row == nullptr) return;
  totals_.see_gpm(*row);
  readings_ += count_values(*row);
}

void DeviceLanes::read_power() {
  if (!power_) return;
  const std::int64_t now = now_ns();
  readings_ += power_->drain(*device_, now, shared_.options.wall_clock(), totals_);
  totals_.set_power_source(power_->is_absent() ? PowerSource::kGauge : PowerSource::kBuffer);
}

void DeviceLanes::read_processes() {
  const std::int64_t now = now_ns();
  const bool is_due = now >= samples_due_ns_;
  if (is_due) samples_due_ns_ = now + shared_.options.periods.process_utilization_ns - kMs;
  readings_ += process_.list(*device_, now, shared_.options.wall_clock(),
                             is_due ? ProcessLane::Samples::kDrain : ProcessLane::Samples::kLeave);
  policy_.see_processes(process_.pids());
  totals_.see_holder(!process_.pids().empty());
}

void DeviceLanes::read_slow() {
  slow_.clear();
  slow_.time_ns = now_ns();
  slow_reader_.read(*device_, tickers_[kSlow].period_ns(), slow_);
  put_pcie();
  slow_writer_.append(slow_);
  totals_.see_slow(slow_);
  readings_ += count_values(slow_);
  if (std::exchange(slow_seen_.time_ns, 0) != 0) report_lost_metrics(slow_seen_, slow_);
  if (slow_before_.time_ns != 0) {
    for (const Event& event : find_slow_changes(slow_before_, slow_, slot_)) {
      shared_.events.add(event);
    }
    if (is_identity_stale(slow_before_, slow_)) read_identity();
  }
  std::swap(slow_, slow_before_);
}

// Where performance counters tell it, the blocking call is left alone.
void DeviceLanes::put_pcie() {
  const nvml::PcieThroughput throughput = pcie_.get();
  const auto put = [&](MetricId id, Reading reading) {
    if (gpm_.is_open() || kind_ == DeviceKind::kMigInstance) {
      reading = Reading::absent(State::kNotSupported);
    }
    if (!reading.is_ok()) return slow_.set_absent(id, reading.state);
    device_->put_value(slow_, id, reading.f64());
  };
  put(MetricId::gpu_pcie_blocking_transmit_bytes_per_second, throughput.transmit);
  put(MetricId::gpu_pcie_blocking_receive_bytes_per_second, throughput.receive);
}

void DeviceLanes::read_identity() {
  Row before(catalog::Scope::kGpu, CatalogLane::kOnce);
  const bool has_before = once_writer_.read_last(before);
  once_.clear();
  once_.time_ns = now_ns();
  once_reader_.reset();
  once_reader_.read(*device_, kTotalsNs, once_);
  // Known since it was opened: a GPU that is lost meanwhile must be known again when it is back.
  once_.set_text(MetricId::gpu_uuid, device_->uuid());
  readings_ += count_values(once_);
  once_writer_.append(once_);
  if (!has_before || before.text(MetricId::gpu_uuid) != device_->uuid()) return;
  report_changes(before);
}

void DeviceLanes::report_changes(const Row& before) {
  const std::string_view old_driver = before.text(MetricId::gpu_driver_version);
  const std::string_view new_driver = once_.text(MetricId::gpu_driver_version);
  if (!old_driver.empty() && !new_driver.empty() && old_driver != new_driver) {
    shared_.events.add({.kind = EventKind::kDriverChanged,
                        .device = slot_,
                        .text = fmt::format("driver {}, was {}", new_driver, old_driver)});
  }
  report_lost_metrics(before, once_);
}

void DeviceLanes::report_lost_metrics(const Row& before, const Row& now) {
  const std::vector<MetricId> lost = find_lost_metrics(before, now);
  if (lost.empty()) return;
  shared_.events.add({.kind = EventKind::kCoverageLost,
                      .device = slot_,
                      .text = fmt::format("no longer supported: {}", name_metrics(lost))});
}

void DeviceLanes::write_totals() {
  const std::uint64_t rejected = tally_.calls().rejected.load(std::memory_order_relaxed);
  totals_.count_readings(readings_, rejected - rejected_before_);
  tally_.count_readings(readings_);
  readings_ = 0;
  rejected_before_ = rejected;
  totals_.write(now_ns());
}

}  // namespace everywatt::sampler
