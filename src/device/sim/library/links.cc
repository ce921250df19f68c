// SPDX-License-Identifier: Apache-2.0
//
// PCIe and topology.
#include <algorithm>
#include <chrono>
#include <thread>

#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"

using namespace everywatt::sim;
using abi::Device;
using abi::Return;

namespace {

// How long the real call blocks.
constexpr auto kThroughputBlocks = std::chrono::microseconds(20'600);
constexpr std::size_t kPcieTx = 12;
constexpr std::size_t kPcieRx = 13;
constexpr double kKibPerMib = 1024;
constexpr unsigned kGpusPerSocket = 4;
constexpr unsigned kHostPcieGeneration = 5;
// Mbit/s a lane, by generation.
constexpr unsigned kPcieMbps[] = {0, 2'500, 5'000, 8'000, 16'000, 32'000};

// Two GPUs and what they share.
template <typename Body>
Return on_pair(Call call, Device first, Device second, Body body) {
  const Entry entry = enter(call, first);
  if (entry.outcome) return *entry.outcome;
  const Gpu* other = entry.library->find(second);
  if (!other) return Return::kInvalidArgument;
  return body(*entry.gpu, *other);
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetCurrPcieLinkGeneration(Device device, unsigned* out) {
  return give("nvmlDeviceGetCurrPcieLinkGeneration", device, out, Column::kPcieGeneration);
}
Return nvmlDeviceGetMaxPcieLinkGeneration(Device device, unsigned* out) {
  return give("nvmlDeviceGetMaxPcieLinkGeneration", device, out, [](Gpu& gpu, const Moment&) {
    return std::min(gpu.profile().pcie_generation, kHostPcieGeneration);
  });
}
Return nvmlDeviceGetGpuMaxPcieLinkGeneration(Device device, unsigned* out) {
  return give("nvmlDeviceGetGpuMaxPcieLinkGeneration", device, out,
              [](Gpu& gpu, const Moment&) { return gpu.profile().pcie_generation; });
}
Return nvmlDeviceGetCurrPcieLinkWidth(Device device, unsigned* out) {
  return give("nvmlDeviceGetCurrPcieLinkWidth", device, out, Column::kPcieWidth);
}
Return nvmlDeviceGetMaxPcieLinkWidth(Device device, unsigned* out) {
  return give("nvmlDeviceGetMaxPcieLinkWidth", device, out,
              [](Gpu&, const Moment&) { return kPcieWidth; });
}
Return nvmlDeviceGetPcieSpeed(Device device, unsigned* out) {
  return give("nvmlDeviceGetPcieSpeed", device, out, [](Gpu& gpu, const Moment& moment) {
    const unsigned generation = gpu.read_u32(Column::kPcieGeneration, moment.played_ns);
    return kPcieMbps[std::min<std::size_t>(generation, std::size(kPcieMbps) - 1)];
  });
}
Return nvmlDeviceGetPcieReplayCounter(Device device, unsigned* out) {
  return give("nvmlDeviceGetPcieReplayCounter", device, out, Column::kPcieReplay);
}
Return nvmlDeviceGetPcieThroughput(Device device, abi::Selector counter, unsigned* kib_per_s) {
  const Entry entry = enter("nvmlDeviceGetPcieThroughput", device);
  if (entry.outcome) return *entry.outcome;
  if (!kib_per_s || counter > abi::pcie_counter::kRxBytes) return Return::kInvalidArgument;
  if (!entry.library->playhead().is_stepped()) std::this_thread::sleep_for(kThroughputBlocks);
  // The refresh that holds now, also where GPM itself is not to be had.
  const std::int64_t generation = entry.gpu->gpm().generation(entry.moment.played_ns);
  const GpmMeans means =
      generation > 0 ? entry.gpu->gpm().between(generation - 1, generation) : GpmMeans{};
  const double mib = means[counter == abi::pcie_counter::kTxBytes ? kPcieTx : kPcieRx];
  *kib_per_s = static_cast<unsigned>(mib * kKibPerMib);
  return Return::kSuccess;
}

Return nvmlDeviceGetTopologyCommonAncestor(Device first, Device second, unsigned* level) {
  return on_pair(
      "nvmlDeviceGetTopologyCommonAncestor", first, second, [&](const Gpu& one, const Gpu& other) {
        if (!level) return Return::kInvalidArgument;
        const bool same_socket = one.number() / kGpusPerSocket == other.number() / kGpusPerSocket;
        *level = same_socket ? abi::topology::kNode : abi::topology::kSystem;
        return Return::kSuccess;
      });
}

}  // namespace everywatt::sim::driver
