// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/faults.h"

#include <algorithm>

namespace everywatt::sampler {

using catalog::MetricId;

FaultCounts::FaultCounts(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kGpu, catalog::Lane::kFaults) {}

void FaultCounts::begin(GpuIs gpu, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (gpu == GpuIs::kAnother || !writer_.read_last(row_)) row_.clear();
  if (row_.state(MetricId::gpu_last_xid) != catalog::State::kOk) {
    row_.set(MetricId::gpu_last_xid, std::uint64_t{0});
    for (unsigned code = 0; code < catalog::metric(MetricId::gpu_xid_errors_total).instances;
         ++code) {
      row_.set(MetricId::gpu_xid_errors_total, std::uint64_t{0}, code);
    }
  }
  append(now_ns);
}

void FaultCounts::add(std::uint64_t xid, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const unsigned codes = catalog::metric(MetricId::gpu_xid_errors_total).instances;
  const unsigned cell = xid < codes ? static_cast<unsigned>(xid) : 0;
  const std::uint64_t before = row_.reading(MetricId::gpu_xid_errors_total, cell).u64();
  row_.set(MetricId::gpu_xid_errors_total, before + 1, cell);
  row_.set(MetricId::gpu_last_xid, xid);
  append(now_ns);
}

void FaultCounts::append(std::int64_t now_ns) {
  row_.time_ns = std::max(now_ns, row_.time_ns);
  writer_.append(row_);
}

}  // namespace everywatt::sampler
