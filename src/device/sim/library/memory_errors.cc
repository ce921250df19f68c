// SPDX-License-Identifier: Apache-2.0
//
// ECC errors, retired pages, remapped rows: none, unless the scenario makes some.
#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"

using namespace everywatt::sim;
using abi::Device;
using abi::Return;
using abi::Selector;

namespace {

// Banks of the recorded GPU's memory, all with their spare rows left unless rows are remapped.
constexpr unsigned kBanks = 5'120;

Column total_column(Selector error, Selector counter) {
  if (error == abi::ecc_error::kCorrected) {
    return counter == abi::ecc_counter::kVolatile ? Column::kEccCorrectedVolatile
                                                  : Column::kEccCorrectedAggregate;
  }
  return counter == abi::ecc_counter::kVolatile ? Column::kEccUncorrectedVolatile
                                                : Column::kEccUncorrectedAggregate;
}

bool is_known(Selector error, Selector counter) {
  return error <= abi::ecc_error::kUncorrected && counter <= abi::ecc_counter::kAggregate;
}

// GPUs since Ampere remap rows and do not retire pages.
Return retired(Call call, Device device) {
  return refuse(call, device);
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetTotalEccErrors(Device device, Selector error, Selector counter,
                                   unsigned long long* out) {
  if (!is_known(error, counter)) return Return::kInvalidArgument;
  return give("nvmlDeviceGetTotalEccErrors", device, out, total_column(error, counter));
}

// All errors of the scenario are in the device memory.
Return nvmlDeviceGetMemoryErrorCounter(Device device, Selector error, Selector counter,
                                       Selector location, unsigned long long* out) {
  return on_gpu("nvmlDeviceGetMemoryErrorCounter", device, [&](Gpu& gpu, const Moment& moment) {
    if (!out || !is_known(error, counter)) return Return::kInvalidArgument;
    switch (location) {
      case abi::memory_location::kDeviceMemory:
        *out = gpu.read_u64(total_column(error, counter), moment.played_ns);
        return Return::kSuccess;
      case abi::memory_location::kSram:
        *out = 0;
        return Return::kSuccess;
      default:
        return location > abi::memory_location::kSram ? Return::kInvalidArgument
                                                      : Return::kNotSupported;
    }
  });
}

Return nvmlDeviceGetDetailedEccErrors(Device device, Selector error, Selector counter,
                                      abi::EccErrorCounts* out) {
  return on_gpu("nvmlDeviceGetDetailedEccErrors", device, [&](Gpu& gpu, const Moment& moment) {
    if (!out || !is_known(error, counter)) return Return::kInvalidArgument;
    *out = {};
    out->device_memory = gpu.read_u64(total_column(error, counter), moment.played_ns);
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetSramEccErrorStatus(Device device, abi::EccSramErrorStatus* out) {
  return on_gpu("nvmlDeviceGetSramEccErrorStatus", device, [&](Gpu&, const Moment&) {
    if (!out) return Return::kInvalidArgument;
    const unsigned version = abi::version_word<abi::EccSramErrorStatus>(1);
    if (out->version != version) return Return::kArgumentVersionMismatch;
    *out = {};
    out->version = version;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetRetiredPages_v2(Device device, Selector, unsigned*, unsigned long long*,
                                    unsigned long long*) {
  return retired("nvmlDeviceGetRetiredPages_v2", device);
}
Return nvmlDeviceGetRetiredPages(Device device, Selector, unsigned*, unsigned long long*) {
  return retired("nvmlDeviceGetRetiredPages", device);
}
Return nvmlDeviceGetRetiredPagesPendingStatus(Device device, unsigned*) {
  return retired("nvmlDeviceGetRetiredPagesPendingStatus", device);
}

Return nvmlDeviceGetRemappedRows(Device device, unsigned* correctable, unsigned* uncorrectable,
                                 unsigned* pending, unsigned* failure) {
  return on_gpu("nvmlDeviceGetRemappedRows", device, [&](Gpu& gpu, const Moment& moment) {
    if (!correctable || !uncorrectable || !pending || !failure) return Return::kInvalidArgument;
    *correctable = gpu.read_u32(Column::kRemappedCorrectable, moment.played_ns);
    *uncorrectable = gpu.read_u32(Column::kRemappedUncorrectable, moment.played_ns);
    *pending = gpu.read_u32(Column::kRemapPending, moment.played_ns);
    *failure = gpu.read_u32(Column::kRemapFailure, moment.played_ns);
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetRowRemapperHistogram(Device device, abi::RowRemapperHistogram* out) {
  return on_gpu("nvmlDeviceGetRowRemapperHistogram", device, [&](Gpu& gpu, const Moment& moment) {
    if (!out) return Return::kInvalidArgument;
    const unsigned remapped = gpu.read_u32(Column::kRemappedCorrectable, moment.played_ns) +
                              gpu.read_u32(Column::kRemappedUncorrectable, moment.played_ns);
    const unsigned touched = remapped < kBanks ? remapped : kBanks;
    *out = {.max = kBanks - touched, .high = touched, .partial = 0, .low = 0, .none = 0};
    return Return::kSuccess;
  });
}

}  // namespace everywatt::sim::driver
