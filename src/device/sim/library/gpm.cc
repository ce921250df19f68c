// SPDX-License-Identifier: Apache-2.0
//
// Hopper's performance counters, with their trap: two samples between which the counters did not
// move give 0 and NaN.
#include <memory>

#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"

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

void evaluate(const GpmMeans& means, GpmMetric& out) {
  out.names = {no_name, no_name, percent_unit};
  for (std::size_t i = 0; i < kGpmColumns; ++i) {
    if (kGpmColumnIds[i] != out.metric_id) continue;
    if (out.metric_id >= abi::gpm::kPcieTxPerSec) out.names.unit = rate_unit;
    out.value = means[i];
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
  return on_gpu("nvmlGpmSampleGet", device, [&](Gpu& gpu, const Moment& moment) {
    if (!sample) return Return::kInvalidArgument;
    if (!gpu.profile().has_gpm) return Return::kNotSupported;
    *sample = {&gpu, gpu.gpm().generation(moment.played_ns)};
    return Return::kSuccess;
  });
}

Return nvmlGpmMigSampleGet(Device device, unsigned, GpmSample) {
  return refuse("nvmlGpmMigSampleGet", device);
}

Return nvmlGpmMetricsGet(GpmMetricsGet* request) {
  const Entry entry = enter("nvmlGpmMetricsGet");
  if (entry.outcome) return *entry.outcome;
  if (!request || !request->sample1 || !request->sample2) return Return::kInvalidArgument;
  if (request->version != abi::kGpmMetricsGetVersion) return Return::kArgumentVersionMismatch;
  const abi::GpmSampleTag& older = *request->sample1;
  const abi::GpmSampleTag& newer = *request->sample2;
  Gpu* gpu = entry.library->find(reinterpret_cast<Device>(const_cast<Gpu*>(older.gpu)));
  if (!gpu || newer.gpu != gpu) return Return::kInvalidArgument;
  if (const auto fault = entry.library->take_fault("nvmlGpmMetricsGet", gpu)) return *fault;
  const GpmMeans means = gpu->gpm().between(older.generation, newer.generation);
  for (unsigned i = 0; i < request->num_metrics; ++i)
    evaluate(means, request->metrics[i]);
  return Return::kSuccess;
}

}  // namespace everywatt::sim::driver
