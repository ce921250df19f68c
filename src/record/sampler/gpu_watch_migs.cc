// SPDX-License-Identifier: Apache-2.0
//
// The MIG instances of a GPU: which there are, and who reads them.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "record/sampler/gpu_watch.h"

namespace everywatt::sampler {
namespace {

using catalog::State;
using recorder::DeviceStatus;

constexpr std::int64_t kMigCheckNs = 10'000'000'000;

}  // namespace

bool GpuWatch::is_listed(const nvml::MigInstances& listed, const nvml::Device& instance) {
  if (std::ranges::find(listed.unnamed, instance.handle()) != listed.unnamed.end()) return true;
  const auto same = std::ranges::find(listed.named, instance.uuid(), &nvml::Device::uuid);
  return same != listed.named.end() && same->handle() == instance.handle();
}

// The instances by their UUIDs: those that are new take a free slot, those that are gone leave it.
State GpuWatch::refresh_migs(std::int64_t now_ns) {
  migs_checked_ns_ = now_ns + kMigCheckNs;
  nvml::Answer<nvml::MigInstances> instances = lanes_->device().mig_instances();
  // A layout of a GPU that could not be asked is none.
  if (const State condition = lanes_->device().take_condition(); condition != State::kOk) {
    return condition;
  }
  if (!instances) return State::kOk;  // what was there is there until a listing without it
  bool has_changed = false;
  for (const auto& mig : migs_) {
    if (!mig->is_begun() || is_listed(*instances, mig->device())) continue;
    mig->end(State::kNotRead);
    // Before another takes the slot: nobody is to see that one under this one's name, or none.
    shared_.file.set_status(mig->slot(), DeviceStatus::kGone, now_ns);
    has_changed = true;
  }
  for (nvml::Device& instance : instances->named) {
    DeviceLanes* const lanes = lanes_for_mig(instance);
    if (lanes == nullptr) continue;
    // The driver counts them anew when one before it goes.
    shared_.file.device(lanes->slot()).index.store(instance.index(), std::memory_order_release);
    if (lanes->is_begun()) continue;
    lanes->begin(std::move(instance));
    shared_.file.set_status(lanes->slot(), DeviceStatus::kOk, now_ns);
    has_changed = true;
  }
  // A GPU in one piece tells what a split one does not.
  if (has_changed) lanes_->forget_absences();
  // Also those that were lost with their GPU and did not come back with it.
  for (const auto& mig : migs_) {
    if (!mig->is_begun()) shared_.file.set_status(mig->slot(), DeviceStatus::kGone, now_ns);
  }
  std::vector<std::uint32_t> listed;
  for (const auto& mig : migs_) {
    if (mig->is_begun()) listed.push_back(mig->device().gpu_instance_id());
  }
  lanes_->leave_processes_to(std::move(listed));
  return State::kOk;
}

// Those that read the instance already, else free ones, else new ones on a slot that was never
// used.
DeviceLanes* GpuWatch::lanes_for_mig(const nvml::Device& instance) {
  for (const auto& mig : migs_) {
    if (mig->is_begun() && mig->device().uuid() == instance.uuid()) return mig.get();
  }
  for (const auto& mig : migs_) {
    if (!mig->is_begun()) return mig.get();
  }
  const std::vector<std::uint32_t> slots = shared_.file.slots(catalog::Scope::kGpu, place_.slot);
  if (migs_.size() >= slots.size()) return nullptr;
  auto lanes =
      DeviceLanes::open(shared_, slots[migs_.size()], place_.number, DeviceKind::kMigInstance);
  if (!lanes) {
    base::log(base::LogLevel::kWarning, lanes.error().message);
    return nullptr;
  }
  return migs_.emplace_back(std::move(*lanes)).get();
}

void GpuWatch::run_migs() {
  for (const auto& mig : migs_) {
    if (!mig->is_begun() || mig->run_due() == State::kOk) continue;
    // What ails an instance shows at its GPU too; the layout tells which of them are left.
    migs_checked_ns_ = 0;
  }
}

}  // namespace everywatt::sampler
