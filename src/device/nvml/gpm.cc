// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/gpm.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::State;

struct Single {
  unsigned gpm_id;
  MetricId metric;
};
constexpr std::array kRatios = {
    Single{abi::gpm::kGraphicsUtil, MetricId::gpu_graphics_engine_active_ratio},
    Single{abi::gpm::kSmUtil, MetricId::gpu_sm_active_ratio},
    Single{abi::gpm::kSmOccupancy, MetricId::gpu_sm_occupancy_ratio},
    Single{abi::gpm::kIntegerUtil, MetricId::gpu_integer_active_ratio},
    Single{abi::gpm::kAnyTensorUtil, MetricId::gpu_tensor_active_ratio},
    Single{abi::gpm::kDfmaTensorUtil, MetricId::gpu_tensor_dfma_active_ratio},
    Single{abi::gpm::kHmmaTensorUtil, MetricId::gpu_tensor_hmma_active_ratio},
    Single{abi::gpm::kDmmaTensorUtil, MetricId::gpu_tensor_dmma_active_ratio},
    Single{abi::gpm::kImmaTensorUtil, MetricId::gpu_tensor_imma_active_ratio},
    Single{abi::gpm::kDramBandwidthUtil, MetricId::gpu_dram_active_ratio},
    Single{abi::gpm::kFp64Util, MetricId::gpu_fp64_active_ratio},
    Single{abi::gpm::kFp32Util, MetricId::gpu_fp32_active_ratio},
    Single{abi::gpm::kFp16Util, MetricId::gpu_fp16_active_ratio},
};
constexpr std::array kRates = {
    Single{abi::gpm::kPcieTxPerSec, MetricId::gpu_pcie_transmit_bytes_per_second},
    Single{abi::gpm::kPcieRxPerSec, MetricId::gpu_pcie_receive_bytes_per_second},
    Single{abi::gpm::kNvLinkTotalTxPerSec, MetricId::gpu_nvlink_transmit_bytes_per_second},
    Single{abi::gpm::kNvLinkTotalRxPerSec, MetricId::gpu_nvlink_receive_bytes_per_second},
    Single{abi::gpm::kC2cTotalTxPerSec, MetricId::gpu_c2c_transmit_bytes_per_second},
    Single{abi::gpm::kC2cTotalRxPerSec, MetricId::gpu_c2c_receive_bytes_per_second},
};

bool is_of_nvlink(MetricId metric) {
  return metric == MetricId::gpu_nvlink_transmit_bytes_per_second ||
         metric == MetricId::gpu_nvlink_receive_bytes_per_second ||
         metric == MetricId::gpu_nvlink_link_transmit_bytes_per_second ||
         metric == MetricId::gpu_nvlink_link_receive_bytes_per_second;
}

// A share of all cycles below this, in percent, is no work; reading the counters alone shows as
// 0.01 % on an H200.
constexpr double kNegligiblePercent = 0.1;

// Counters that stood still show as 0/0 for DRAM; where DRAM is not told, any other 0/0 stands for
// it. (Where it is, a 0/0 elsewhere is that metric's own.) Others are dead without that: no engine
// did anything, while the GPU is busy by another account.
bool has_moved(std::span<const abi::GpmMetric> metrics, Elsewhere elsewhere) {
  bool has_work = false;
  bool has_nan = false;
  bool has_dram = false;
  for (const abi::GpmMetric& metric : metrics) {
    if (metric.nvml_return != Return::kSuccess) continue;
    const bool is_dram = metric.metric_id == abi::gpm::kDramBandwidthUtil;
    if (std::isnan(metric.value) && is_dram) return false;
    has_dram = has_dram || is_dram;
    has_nan = has_nan || std::isnan(metric.value);
    if (metric.metric_id <= abi::gpm::kFp16Util && metric.value > kNegligiblePercent) {
      has_work = true;
    }
  }
  if (has_nan && !has_dram) return false;
  return has_work || elsewhere != Elsewhere::kBusy;
}

}  // namespace

std::vector<Gpm::Cell> Gpm::list_cells() {
  std::vector<Cell> cells;
  for (const Single& one : kRatios)
    cells.push_back({one.gpm_id, one.metric, 0, kPercent});
  for (const Single& one : kRates)
    cells.push_back({one.gpm_id, one.metric, 0, kMebi});
  const auto add = [&](MetricId metric, Scale scale, auto id_of) {
    for (unsigned i = 0; i < catalog::metric(metric).instances; ++i) {
      cells.push_back({id_of(i), metric, i, scale});
    }
  };
  add(MetricId::gpu_nvlink_link_transmit_bytes_per_second, kMebi, abi::gpm::nvlink_tx_per_sec);
  add(MetricId::gpu_nvlink_link_receive_bytes_per_second, kMebi, abi::gpm::nvlink_rx_per_sec);
  add(MetricId::gpu_nvdec_active_ratio, kPercent, abi::gpm::nvdec_util);
  add(MetricId::gpu_nvenc_active_ratio, kPercent, abi::gpm::nvenc_util);
  add(MetricId::gpu_nvjpg_active_ratio, kPercent, abi::gpm::nvjpg_util);
  add(MetricId::gpu_nvofa_active_ratio, kPercent, abi::gpm::nvofa_util);
  return cells;
}

// NVLink is half of the list. Where there is no such link its rates would be zeros that mean
// nothing.
void Gpm::leave_out_links() {
  unsigned is_up = 0;
  const Return code = device_->call_gpu<Call::kDeviceGetNvLinkState>(0U, &is_up);
  if (state_of(code) != State::kNotSupported) return;
  std::erase_if(asked_, [&](const Cell& cell) {
    if (!is_of_nvlink(cell.metric)) return false;
    refused_.push_back({cell, State::kNotSupported});
    return true;
  });
}

Answer<Gpm> Gpm::open(Device& device) {
  abi::GpmSupport support{};
  support.version = abi::kGpmSupportVersion;
  // A MIG instance has what its GPU has; the question is refused on its handle.
  if (!device.is_mig()) {
    const Return code = device.call<Call::kGpmQueryDeviceSupport>(&support);
    if (code != Return::kSuccess) return std::unexpected(state_of(code));
    if (support.is_supported_device == 0) return std::unexpected(State::kNotSupported);
  }
  Gpm gpm(device);
  for (abi::GpmSample* sample : {&gpm.older_, &gpm.newer_}) {
    const Return code = device.library().call<Call::kGpmSampleAlloc>(device.trace(), sample);
    if (code != Return::kSuccess) return std::unexpected(state_of(code));
  }
  gpm.request_ = std::make_unique<abi::GpmMetricsGet>();
  gpm.asked_ = list_cells();
  gpm.leave_out_links();
  return gpm;
}

Gpm::Gpm(Gpm&& other) noexcept
    : device_(other.device_),
      asked_(std::move(other.asked_)),
      refused_(std::move(other.refused_)),
      older_(std::exchange(other.older_, nullptr)),
      newer_(std::exchange(other.newer_, nullptr)),
      older_ns_(std::exchange(other.older_ns_, 0)),
      newer_ns_(std::exchange(other.newer_ns_, 0)),
      request_(std::move(other.request_)) {}

Gpm& Gpm::operator=(Gpm&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(asked_, other.asked_);
  std::swap(refused_, other.refused_);
  std::swap(older_, other.older_);
  std::swap(newer_, other.newer_);
  std::swap(older_ns_, other.older_ns_);
  std::swap(newer_ns_, other.newer_ns_);
  std::swap(request_, other.request_);
  return *this;
}

Gpm::~Gpm() {
  for (const abi::GpmSample sample : {older_, newer_}) {
    if (sample == nullptr) continue;
    static_cast<void>(device_->library().call<Call::kGpmSampleFree>(device_->trace(), sample));
  }
}

State Gpm::take(std::int64_t now_ns) {
  abi::GpmSample& sample = older_ns_ == 0 ? older_ : newer_;
  const Return code = device_->is_mig() ? device_->call_gpu<Call::kGpmMigSampleGet>(
                                              device_->gpu_instance_id(), sample)
                                        : device_->call<Call::kGpmSampleGet>(sample);
  if (code != Return::kSuccess) {
    // What a failed call left in the sample is unknown.
    if (older_ns_ != 0) newer_ns_ = 0;
    return state_of(code);
  }
  (older_ns_ == 0 ? older_ns_ : newer_ns_) = now_ns;
  return State::kOk;
}

State Gpm::form(Row& row, Elsewhere elsewhere) {
  if (older_ns_ == 0 || newer_ns_ == 0) return State::kNoNewValue;
  request_->version = abi::kGpmMetricsGetVersion;
  request_->num_metrics = static_cast<unsigned>(asked_.size());
  request_->sample1 = older_;
  request_->sample2 = newer_;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    request_->metrics[i] = {
        .metric_id = asked_[i].gpm_id, .nvml_return = Return::kUnknown, .value = 0, .names = {}};
  }
  const Return code =
      device_->library().call<Call::kGpmMetricsGet>(device_->trace(), request_.get());
  if (code != Return::kSuccess) return state_of(code);
  // By our own count: what the driver made of it is not to be relied on.
  const std::span answers(request_->metrics, asked_.size());
  if (!has_moved(answers, elsewhere)) return State::kNoNewValue;

  put_metrics(row);
  row.time_ns = newer_ns_;
  row.window_start_ns = older_ns_;
  row.window_end_ns = newer_ns_;
  std::swap(older_, newer_);
  older_ns_ = std::exchange(newer_ns_, 0);
  return State::kOk;
}

void Gpm::put_metrics(Row& row) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const Cell& cell = asked_[i];
    const abi::GpmMetric& metric = request_->metrics[i];
    if (metric.nvml_return != Return::kSuccess) {
      refused_.push_back({cell, state_of(metric.nvml_return)});
      continue;
    }
    device_->put_value(row, cell.metric, metric.value * cell.scale.times / cell.scale.by,
                       cell.instance);
  }
  for (const Refused& one : refused_) {
    row.set_reading(one.cell.metric, Reading::absent(one.why), one.cell.instance);
  }
  // What failed for the moment stays on the list; only what does not exist leaves it.
  std::erase_if(refused_, [](const Refused& one) { return one.why != State::kNotSupported; });
  std::erase_if(asked_, [&](const Cell& cell) {
    return std::ranges::any_of(refused_, [&](const Refused& one) {
      return one.cell.metric == cell.metric && one.cell.instance == cell.instance;
    });
  });
}

void Gpm::reset() {
  older_ns_ = 0;
  newer_ns_ = 0;
}

}  // namespace everywatt::nvml
