// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/device.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/check.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::State;
using catalog::Type;

// MIG layouts have at most 7 instances of one slice each; with several compute instances in each,
// drivers enumerate up to 56.
constexpr unsigned kMaxMigInstances = 64;
// Far more than a machine has. A number beyond is none of a GPU.
constexpr unsigned kMaxGpus = 4096;

// Something that can be told from others, on a terminal too.
bool is_plain(std::string_view uuid) {
  return !uuid.empty() && std::ranges::all_of(uuid, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

Device::Device(Library& library, abi::Device handle, const CallTrace& trace)
    : library_(&library), handle_(handle), gpu_handle_(handle), trace_(trace) {}

Answer<unsigned> Device::count(Library& library, const CallTrace& trace) {
  unsigned count = 0;
  const Return code = library.call<Call::kDeviceGetCount>(trace, &count);
  if (code != Return::kSuccess) return std::unexpected(state_of(code));
  return count;
}

Answer<Device> Device::open_at(Library& library, const std::string& pci_address,
                               const CallTrace& trace) {
  abi::Device handle = nullptr;
  const Return code =
      library.call<Call::kDeviceGetHandleByPciBusId>(trace, pci_address.c_str(), &handle);
  // The driver knows no GPU there: to us it is not on the bus.
  if (code == Return::kNotFound) return std::unexpected(State::kLost);
  if (code != Return::kSuccess) return std::unexpected(state_of(code));
  return identified(Device(library, handle, trace));
}

Answer<Device> Device::open_nth(Library& library, unsigned number, const CallTrace& trace) {
  abi::Device handle = nullptr;
  const Return code = library.call<Call::kDeviceGetHandleByIndex>(trace, number, &handle);
  if (code != Return::kSuccess) return std::unexpected(state_of(code));
  return identified(Device(library, handle, trace));
}

// Without its UUID nothing that we record could be told to be this GPU's.
Answer<Device> Device::identified(Device device) {
  std::array<char, abi::kUuidBufferSize> uuid{};
  const Return code =
      device.call<Call::kDeviceGetUuid>(uuid.data(), static_cast<unsigned>(uuid.size()));
  if (code != Return::kSuccess) return std::unexpected(state_of(code));
  uuid.back() = '\0';
  device.uuid_ = uuid.data();
  if (!is_plain(device.uuid_)) return std::unexpected(State::kInvalid);
  if (device.is_mig_) return device;

  unsigned index = 0;
  if (device.call<Call::kDeviceGetIndex>(&index) == Return::kSuccess && index < kMaxGpus) {
    device.index_ = index;
  }
  unsigned min_mw = 0;
  unsigned max_mw = 0;
  if (device.call<Call::kDeviceGetPowerManagementLimitConstraints>(&min_mw, &max_mw) ==
          Return::kSuccess &&
      !is_blank(max_mw)) {
    device.power_limit_max_watts_ = max_mw / 1e3;
  }
  return device;
}

bool Device::renumber() {
  unsigned index = 0;
  if (is_mig_ || call<Call::kDeviceGetIndex>(&index) != Return::kSuccess || index >= kMaxGpus) {
    return false;
  }
  return std::exchange(index_, index) != index;
}

Answer<MigInstances> Device::mig_instances() {
  MigInstances found;
  if (is_mig_) return found;
  unsigned current = 0;
  unsigned pending = 0;
  unsigned most = 0;
  State state = state_of(call<Call::kDeviceGetMigMode>(&current, &pending));
  if (state == State::kOk && current == 0) return found;
  if (state == State::kOk) state = state_of(call<Call::kDeviceGetMaxMigDeviceCount>(&most));
  if (state == State::kNotSupported || state == State::kNoPermission) return found;
  if (state != State::kOk) return std::unexpected(state);
  for (unsigned i = 0; i < std::min(most, kMaxMigInstances); ++i) {
    abi::Device handle = nullptr;
    const Return code = call<Call::kDeviceGetMigDeviceHandleByIndex>(i, &handle);
    // A free place in the layout.
    if (code == Return::kNotFound || code == Return::kInvalidArgument) continue;
    if (code != Return::kSuccess) return std::unexpected(state_of(code));
    Device instance(*library_, handle, trace_);
    instance.is_mig_ = true;
    instance.gpu_handle_ = handle_;
    instance.parent_uuid_ = uuid_;
    instance.index_ = i;
    instance.power_limit_max_watts_ = power_limit_max_watts_;
    // Without its number there are no performance counters.
    const Return numbered =
        instance.call<Call::kDeviceGetGpuInstanceId>(&instance.gpu_instance_id_);
    Answer<Device> named = numbered == Return::kSuccess ? identified(std::move(instance))
                                                        : std::unexpected(state_of(numbered));
    if (named) {
      found.named.push_back(std::move(*named));
    } else if (named.error() != State::kNotSupported && named.error() != State::kNoNewValue) {
      found.unnamed.push_back(handle);
    }
  }
  return found;
}

// A wrong argument may be the instance itself: one that was destroyed has left a handle behind
// which is nothing, or another instance.
bool Device::is_instance_gone() {
  std::array<char, abi::kUuidBufferSize> uuid{};
  const Return code = library_->call<Call::kDeviceGetUuid>(trace_, handle_, uuid.data(),
                                                           static_cast<unsigned>(uuid.size()));
  uuid.back() = '\0';
  return code == Return::kInvalidArgument || code == Return::kNotFound ||
         (code == Return::kSuccess && uuid_ != uuid.data());
}

Return Device::note(Return code) {
  if (code == Return::kInvalidArgument && is_mig_ && !uuid_.empty() && is_instance_gone()) {
    code = Return::kGpuIsLost;
  }
  if (code == Return::kGpuIsLost || code == Return::kGpuNotFound) condition_ = State::kLost;
  // A GPU that needs a reset fails by itself, reading by reading; this is about the driver.
  if (code == Return::kUninitialized && condition_ == State::kOk) condition_ = State::kFailed;
  return code;
}

Reading Device::reject() {
  if (trace_.tally != nullptr) {
    std::atomic<std::uint64_t>& sum = trace_.tally->rejected;
    sum.store(sum.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  return Reading::absent(State::kInvalid);
}

void Device::put_value(Row& row, MetricId id, double value, unsigned instance) {
  const catalog::Metric& metric = catalog::metric(id);
  if (!catalog::is_in_range(metric, value, power_limit_max_watts_)) {
    return row.set_reading(id, reject(), instance);
  }
  switch (metric.type) {
    case Type::kF64:
      return row.set(id, value, instance);
    case Type::kU64:
      return row.set(id, static_cast<std::uint64_t>(value), instance);
    case Type::kI64:
      return row.set(id, static_cast<std::int64_t>(value), instance);
    case Type::kText:
      break;
  }
  CHECK(metric.type != Type::kText);
}

// Counters and masks stay exact: they do not go through a double.
void Device::put_integer(Row& row, MetricId id, std::uint64_t number, Scale scale,
                         unsigned instance) {
  const catalog::Metric& metric = catalog::metric(id);
  const double value = static_cast<double>(number) * scale.times / scale.by;
  if (metric.type != Type::kU64) return put_value(row, id, value, instance);
  std::uint64_t scaled = 0;
  if (!catalog::is_in_range(metric, value, power_limit_max_watts_) ||
      __builtin_mul_overflow(number, static_cast<std::uint64_t>(scale.times), &scaled)) {
    return row.set_reading(id, reject(), instance);
  }
  row.set(id, scaled / static_cast<std::uint64_t>(scale.by), instance);
}

void Device::put(Row& row, MetricId id, const Field& field, Scale scale, unsigned instance) {
  if (field.is_signed) {
    return put(row, id, field.code, static_cast<std::int64_t>(field.bits), scale, instance);
  }
  put(row, id, field.code, field.bits, scale, instance);
}

void Device::put_text(Row& row, MetricId id, Return code, const char* text) {
  if (code != Return::kSuccess) return row.set_absent(id, state_of(code));
  row.set_text(id, text);
}

}  // namespace everywatt::nvml
