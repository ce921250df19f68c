// SPDX-License-Identifier: Apache-2.0
//
// nvmlDeviceGetFieldValues: each question is answered, or refused, on its own.
#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"

using namespace everywatt::sim;
using abi::Device;
using abi::FieldValue;
using abi::Return;
using abi::ValueType;
namespace field = abi::field;

namespace {

struct Answer {
  unsigned id;
  ValueType type;
  Column column;
};

constexpr Answer kAnswers[] = {
    {field::kEccCurrent, ValueType::kUnsignedInt, Column::kEccMode},
    {field::kEccPending, ValueType::kUnsignedInt, Column::kEccMode},
    {field::kRetiredSingleBit, ValueType::kUnsignedLongLong, Column::kRetiredSingleBit},
    {field::kRetiredDoubleBit, ValueType::kUnsignedLongLong, Column::kRetiredDoubleBit},
    {field::kRetiredPending, ValueType::kUnsignedInt, Column::kRetiredPending},
    {field::kViolationPower, ValueType::kUnsignedLongLong, Column::kViolPower},
    {field::kViolationThermal, ValueType::kUnsignedLongLong, Column::kViolThermal},
    {field::kMemoryTemperature, ValueType::kUnsignedInt, Column::kMemTemp},
    {field::kTotalEnergy, ValueType::kUnsignedLongLong, Column::kEnergy},
    {field::kPcieReplay, ValueType::kUnsignedInt, Column::kPcieReplay},
    {field::kRemappedCorrectable, ValueType::kUnsignedInt, Column::kRemappedCorrectable},
    {field::kRemappedUncorrectable, ValueType::kUnsignedInt, Column::kRemappedUncorrectable},
    {field::kRemappedPending, ValueType::kUnsignedInt, Column::kRemapPending},
    {field::kRemappedFailure, ValueType::kUnsignedInt, Column::kRemapFailure},
    {field::kPowerAverage, ValueType::kUnsignedInt, Column::kPower},
    {field::kPowerInstant, ValueType::kUnsignedInt, Column::kPowerInstant},
    {field::kPowerCurrentLimit, ValueType::kUnsignedInt, Column::kPowerLimit},
    {field::kPowerRequestedLimit, ValueType::kUnsignedInt, Column::kPowerLimit},
};

// Violations that the recorded GPU reports and never has.
constexpr bool is_zero_violation(unsigned id) {
  return id >= field::kViolationSyncBoost && id <= field::kViolationTotalBaseClocks;
}

void store(FieldValue& out, ValueType type, std::uint64_t value) {
  out.nvml_return = Return::kSuccess;
  out.value_type = type;
  out.value.u64 = 0;  // a narrower one leaves no rubbish beside it
  if (type == ValueType::kUnsignedInt) {
    out.value.u32 = static_cast<unsigned>(value);
  } else {
    out.value.u64 = value;
  }
}

void answer(const Gpu& gpu, const Moment& moment, FieldValue& out) {
  out.timestamp = moment.wall_ns / 1000;
  out.latency_us = 0;
  for (const Answer& known : kAnswers) {
    if (known.id == out.field_id) {
      return store(out, known.type, gpu.read_u64(known.column, moment.played_ns));
    }
  }
  if (is_zero_violation(out.field_id)) return store(out, ValueType::kUnsignedLongLong, 0);
  switch (out.field_id) {
    case field::kPowerMinLimit:
      return store(out, ValueType::kUnsignedInt, kPowerLimitMinMw);
    case field::kPowerMaxLimit:
    case field::kPowerDefaultLimit:
      return store(out, ValueType::kUnsignedInt, kPowerLimitMw);
    default:
      out.nvml_return = Return::kNotSupported;
  }
}

}  // namespace

Return everywatt::sim::driver::nvmlDeviceGetFieldValues(Device device, int count,
                                                        FieldValue* values) {
  return on_gpu("nvmlDeviceGetFieldValues", device, [&](Gpu& gpu, const Moment& moment) {
    if (!values || count <= 0) return Return::kInvalidArgument;
    for (int i = 0; i < count; ++i)
      answer(gpu, moment, values[i]);
    return Return::kSuccess;
  });
}
