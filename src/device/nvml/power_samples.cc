// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/power_samples.h"

#include <algorithm>

namespace everywatt::nvml {
namespace {

using abi::Return;
using abi::ValueType;
using catalog::State;

// Room for what Hopper's buffer holds, also where a driver only tells what is in it now; and what a
// buffer is believed to hold at most: 1000 times that would be nonsense.
constexpr unsigned kMinSamples = 128;
constexpr unsigned kMaxSamples = 4096;
// A stamp this far ahead of the clock is of a time before the clock was set back.
constexpr std::int64_t kAheadUs = 1'000'000;

double milliwatts_of(const abi::Sample& sample, ValueType type) {
  switch (type) {
    case ValueType::kDouble:
      return sample.value.f64;
    case ValueType::kUnsignedInt:
      return sample.value.u32;
    case ValueType::kUnsignedShort:
      return sample.value.u16;
    case ValueType::kSignedInt:
      return sample.value.i32;
    case ValueType::kSignedLongLong:
      return static_cast<double>(sample.value.i64);
    case ValueType::kUnsignedLong:
    case ValueType::kUnsignedLongLong:
      break;
  }
  return static_cast<double>(sample.value.u64);
}

}  // namespace

State PowerSamples::drain(Device& device, std::int64_t now_wall_us,
                          std::vector<PowerSample>& samples) {
  samples.clear();
  const auto ask = [&](std::int64_t since_us, unsigned& count, abi::Sample* into, ValueType& type) {
    return device.call<Call::kDeviceGetSamples>(
        abi::sampling::kTotalPower, static_cast<unsigned long long>(since_us), &type, &count, into);
  };
  ValueType type = ValueType::kUnsignedInt;
  unsigned count = 0;
  if (buffer_.empty()) {
    const Return code = ask(0, count, nullptr, type);
    if (code != Return::kSuccess && code != Return::kInsufficientSize) return state_of(code);
    buffer_.resize(std::clamp(count, kMinSamples, kMaxSamples));
  }
  if (last_wall_us_ > now_wall_us + kAheadUs) last_wall_us_ = 0;
  count = static_cast<unsigned>(buffer_.size());
  const Return code = ask(last_wall_us_, count, buffer_.data(), type);
  if (code == Return::kInsufficientSize) buffer_.clear();  // asked for its size again next time
  if (code != Return::kSuccess) return state_of(code);

  count = std::min(count, static_cast<unsigned>(buffer_.size()));
  for (unsigned i = 0; i < count; ++i) {
    const auto wall_us = static_cast<std::int64_t>(buffer_[i].time_stamp);
    // Drivers return slots that they did not fill, and samples at the stamp asked for.
    if (wall_us <= last_wall_us_ || wall_us > now_wall_us + kAheadUs) continue;
    samples.push_back({wall_us, milliwatts_of(buffer_[i], type) / 1e3});
  }
  if (samples.empty()) return State::kNoNewValue;
  std::ranges::sort(samples, {}, &PowerSample::wall_us);
  const auto repeats = std::ranges::unique(samples, {}, &PowerSample::wall_us);
  samples.erase(repeats.begin(), repeats.end());
  last_wall_us_ = samples.back().wall_us;
  return State::kOk;
}

}  // namespace everywatt::nvml
