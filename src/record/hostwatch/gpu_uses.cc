// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/gpu_uses.h"

#include <limits>

namespace everywatt::hostwatch {
namespace {

using catalog::MetricId;

// More processes on one GPU than this are not watched; the driver itself lists fewer.
constexpr std::uint64_t kMostRows = 1024;

}  // namespace

GpuUses::GpuUses() : row_(catalog::Scope::kGpu, catalog::Lane::kProcess) {}

const std::vector<GpuUse>& GpuUses::read(const recorder::Reader& reader) {
  uses_.clear();
  for (const recorder::Device& device : reader.devices()) {
    if (device.scope != catalog::Scope::kGpu) continue;
    const auto ring = reader.find_ring(device.slot, catalog::Lane::kProcess);
    if (!ring) continue;
    Listing& listing = listings_[device.slot];
    if (device.status == recorder::DeviceStatus::kGone) {
      listing.uses.clear();
      continue;
    }
    const std::uint64_t published = reader.published(*ring);
    if (published != listing.published &&
        read_listing(reader, *ring, published, device.slot, listing.uses)) {
      listing.published = published;
    }
    uses_.insert(uses_.end(), listing.uses.begin(), listing.uses.end());
  }
  return uses_;
}

bool GpuUses::read_listing(const recorder::Reader& reader, std::uint32_t ring, std::uint64_t end,
                           std::uint32_t slot, std::vector<GpuUse>& uses) {
  if (end == 0) return false;
  if (reader.read(ring, end - 1, row_) != recorder::RowState::kOk) return false;
  const std::uint64_t count = row_.reading(MetricId::process_count).u64();
  const bool is_known = row_.reading(MetricId::process_count).is_ok();
  // A row that holds a reason in place of a listing: what was known stays.
  if (!is_known) return true;
  if (count == 0) {
    uses.clear();
    return true;
  }
  const std::uint64_t index = row_.reading(MetricId::process_index).u64();
  if (index + 1 != count || count > kMostRows || count > end) return false;
  const std::int64_t time_ns = row_.time_ns;
  std::vector<GpuUse> found;
  for (std::uint64_t sequence = end - count; sequence < end; ++sequence) {
    if (reader.read(ring, sequence, row_) != recorder::RowState::kOk) return false;
    if (row_.time_ns != time_ns) return false;
    const catalog::Reading pid = row_.reading(MetricId::process_pid);
    if (!pid.is_ok() || pid.u64() == 0 || pid.u64() > std::numeric_limits<std::uint32_t>::max()) {
      continue;
    }
    found.push_back({.slot = slot,
                     .pid = static_cast<std::uint32_t>(pid.u64()),
                     .memory_bytes = row_.reading(MetricId::process_memory_bytes).bits});
  }
  uses = std::move(found);
  return true;
}

}  // namespace everywatt::hostwatch
