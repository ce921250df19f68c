// SPDX-License-Identifier: Apache-2.0
//
// Hopper's performance counters, with their trap: two samples between which the counters did not
// move give 0 and NaN.
#include <memory>
#include <optional>

#include "device/sim/library/driver.h"
#include "device/sim/library/mig.h"
#include "device/sim/mig_layout.h"
#include "device/sim/nvlinks.h"

using namespace everywatt::sim;
using abi::Device;
using abi::GpmMetric;
using abi::GpmMetricsGet;
using abi::GpmSample;
using abi::Return;

namespace everywatt::nvml::abi {

// What the library keeps behind a caller's sample.
struct GpmSampleTag {
  const Gpu* gpu = nullptr;
  std::int64_t generation = 0;
  const MigInstance* mig = nullptr;
  // What part of what the trace's GPU did is seen here.
  MigShare share = {.multiprocessors = 1, .memory = 1};
};

}  // namespace everywatt::nvml::abi

namespace {

// The interface gives out pointers to characters that are not const.
char percent_unit[] = "%";
char rate_unit[] = "MiB/s";
char no_name[] = "";

bool is_in(unsigned id, unsigned first, unsigned count) {
  return id >= first && id - first < count;
}

// Engines and links that the recorded GPU has or could have, all idle in the traces.
bool is_idle_engine(unsigned id) {
  namespace gpm = abi::gpm;
  return is_in(id, gpm::nvdec_util(0), 7) || is_in(id, gpm::nvjpg_util(0), 7) ||
         is_in(id, gpm::nvofa_util(0), 1) || id == gpm::kDmmaTensorUtil;
}

constexpr double kMebi = 1048576;

// The rates of links between two refreshes, in bytes a second.
class LinkRates {
 public:
  LinkRates(const Scenario& scenario, const Gpu& gpu, std::int64_t older, std::int64_t newer)
      : scenario_(scenario),
        gpu_(gpu.number()),
        from_ns_(older > 0 ? gpu.gpm().time_of(older) : 0),
        until_ns_(newer > 0 ? gpu.gpm().time_of(newer) : 0) {}

  // Nothing: the number is none of a link that the GPU has.
  std::optional<double> find(unsigned metric_id) const {
    const std::uint32_t links = count_links(scenario_, gpu_);
    if (links == 0) return std::nullopt;
    if (metric_id == abi::gpm::kNvLinkTotalTxPerSec) return total(&LinkTotals::sent_bytes);
    if (metric_id == abi::gpm::kNvLinkTotalRxPerSec) return total(&LinkTotals::received_bytes);
    for (std::uint32_t link = 0; link < links; ++link) {
      if (metric_id == abi::gpm::nvlink_tx_per_sec(link)) return of(link, &LinkTotals::sent_bytes);
      if (metric_id == abi::gpm::nvlink_rx_per_sec(link))
        return of(link, &LinkTotals::received_bytes);
    }
    return std::nullopt;
  }

 private:
  double of(std::uint32_t link, std::uint64_t LinkTotals::* bytes) const {
    if (until_ns_ <= from_ns_) return 0;
    const std::uint64_t before = link_totals(scenario_, gpu_, link, from_ns_).*bytes;
    const std::uint64_t after = link_totals(scenario_, gpu_, link, until_ns_).*bytes;
    return static_cast<double>(after - before) / (static_cast<double>(until_ns_ - from_ns_) / 1e9);
  }
  double total(std::uint64_t LinkTotals::* bytes) const {
    double sum = 0;
    for (std::uint32_t link = 0; link < count_links(scenario_, gpu_); ++link)
      sum += of(link, bytes);
    return sum;
  }

  const Scenario& scenario_;
  const std::uint32_t gpu_;
  const std::int64_t from_ns_, until_ns_;  // played
};

// The whole GPU's share in MIG mode is the sum of its instances'.
MigShare share_of(const Entry& entry) {
  if (!is_mig_on(entry)) return {.multiprocessors = 1, .memory = 1};
  MigShare sum;
  for (const MigInstance* mig :
       mig_instances(entry.library->scenario(), entry.gpu->number(), entry.moment.played_ns)) {
    const MigShare share = mig_share(*mig, entry.gpu->profile().multiprocessors);
    sum.multiprocessors += share.multiprocessors;
    sum.memory += share.memory;
  }
  return sum;
}

// PCIe is the whole GPU's.
GpmMeans share_out(GpmMeans means, const MigShare& share) {
  for (std::size_t i = 0; i < kGpmColumns; ++i) {
    if (kGpmColumnIds[i] >= abi::gpm::kPcieTxPerSec) continue;
    means[i] *= i == kGpmDram ? share.memory : share.multiprocessors;
  }
  return means;
}

// What an instance has of its own: activity, no traffic.
bool is_of_instance(unsigned metric_id) {
  return metric_id < abi::gpm::kPcieTxPerSec;
}

void evaluate(const GpmMeans& means, const LinkRates& links, GpmMetric& out) {
  out.names = {no_name, no_name, percent_unit};
  for (std::size_t i = 0; i < kGpmColumns; ++i) {
    if (kGpmColumnIds[i] != out.metric_id) continue;
    if (out.metric_id >= abi::gpm::kPcieTxPerSec) out.names.unit = rate_unit;
    out.value = means[i];
    out.nvml_return = Return::kSuccess;
    return;
  }
  if (const std::optional<double> rate = links.find(out.metric_id)) {
    out.names.unit = rate_unit;
    out.value = *rate / kMebi;
    out.nvml_return = Return::kSuccess;
    return;
  }
  out.value = 0;
  out.nvml_return = is_idle_engine(out.metric_id) ? Return::kSuccess : Return::kNotSupported;
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlGpmQueryDeviceSupport(Device device, abi::GpmSupport* out) {
  return on_gpu("nvmlGpmQueryDeviceSupport", device, [&](Gpu& gpu, const Moment&) {
    if (!out) return Return::kInvalidArgument;
    if (out->version != abi::kGpmSupportVersion) return Return::kArgumentVersionMismatch;
    out->is_supported_device = gpu.profile().has_gpm ? 1 : 0;
    return Return::kSuccess;
  });
}

Return nvmlGpmSampleAlloc(GpmSample* out) {
  const Entry entry = enter("nvmlGpmSampleAlloc");
  if (entry.outcome) return *entry.outcome;
  if (!out) return Return::kInvalidArgument;
  *out = std::make_unique<abi::GpmSampleTag>().release();
  return Return::kSuccess;
}

// Also after the library was shut: the memory is the caller's.
Return nvmlGpmSampleFree(GpmSample sample) {
  if (const auto fault = fault_of_freeing("nvmlGpmSampleFree")) return *fault;
  if (!sample) return Return::kInvalidArgument;
  const std::unique_ptr<abi::GpmSampleTag> owned(sample);
  return Return::kSuccess;
}

Return nvmlGpmSampleGet(Device device, GpmSample sample) {
  const Entry entry = enter("nvmlGpmSampleGet", device);
  if (entry.outcome) return *entry.outcome;
  if (!sample) return Return::kInvalidArgument;
  if (!entry.gpu->profile().has_gpm) return Return::kNotSupported;
  *sample = {.gpu = entry.gpu,
             .generation = entry.gpu->gpm().generation(entry.moment.played_ns),
             .share = share_of(entry)};
  return Return::kSuccess;
}

// On the handle of the GPU. An instance's percentages are of what it consists of.
Return nvmlGpmMigSampleGet(Device device, unsigned gpu_instance_id, GpmSample sample) {
  const Entry entry = enter("nvmlGpmMigSampleGet", device);
  if (entry.outcome) return *entry.outcome;
  if (!sample) return Return::kInvalidArgument;
  if (!entry.gpu->profile().has_gpm || !is_mig_on(entry)) return Return::kNotSupported;
  for (const MigInstance* mig :
       mig_instances(entry.library->scenario(), entry.gpu->number(), entry.moment.played_ns)) {
    if (mig->gpu_instance_id != gpu_instance_id) continue;
    *sample = {.gpu = entry.gpu,
               .generation = entry.gpu->gpm().generation(entry.moment.played_ns),
               .mig = mig,
               .share = {.multiprocessors = mig->activity, .memory = mig->activity}};
    return Return::kSuccess;
  }
  return Return::kInvalidArgument;
}

Return nvmlGpmMetricsGet(GpmMetricsGet* request) {
  const Entry entry = enter("nvmlGpmMetricsGet");
  if (entry.outcome) return *entry.outcome;
  if (!request || !request->sample1 || !request->sample2) return Return::kInvalidArgument;
  if (request->version != abi::kGpmMetricsGetVersion) return Return::kArgumentVersionMismatch;
  const abi::GpmSampleTag& older = *request->sample1;
  const abi::GpmSampleTag& newer = *request->sample2;
  Gpu* gpu = entry.library->find(reinterpret_cast<Device>(const_cast<Gpu*>(older.gpu)));
  if (!gpu || newer.gpu != gpu || newer.mig != older.mig) return Return::kInvalidArgument;
  if (const auto fault = entry.library->take_fault("nvmlGpmMetricsGet", gpu)) return *fault;
  const GpmMeans means =
      share_out(gpu->gpm().between(older.generation, newer.generation), newer.share);
  const LinkRates links(entry.library->scenario(), *gpu, older.generation, newer.generation);
  for (unsigned i = 0; i < request->num_metrics; ++i) {
    GpmMetric& metric = request->metrics[i];
    evaluate(means, links, metric);
    if (newer.mig && !is_of_instance(metric.metric_id)) {
      metric.value = 0;
      metric.nvml_return = Return::kNotSupported;
    }
  }
  return Return::kSuccess;
}

}  // namespace everywatt::sim::driver
