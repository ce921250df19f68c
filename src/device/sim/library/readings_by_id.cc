// SPDX-License-Identifier: Apache-2.0
//
// nvmlDeviceGetFieldValues: each question is answered, or refused, on its own.
#include <optional>

#include "device/sim/library/driver.h"
#include "device/sim/library/library.h"
#include "device/sim/nvlinks.h"

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

constexpr std::uint64_t kKibi = 1024;

// What is asked of a link, or of all of a GPU. Nothing: no such field, or the GPU has no such link.
std::optional<std::uint64_t> link_answer(const Scenario& scenario, std::uint32_t gpu,
                                         const FieldValue& asked, std::int64_t played_ns) {
  const std::uint32_t links = count_links(scenario, gpu);
  const bool is_all = asked.scope_id == field::kAllLinks;
  if (links == 0 || (asked.scope_id >= links && !is_all)) return std::nullopt;
  LinkTotals totals;
  for (std::uint32_t link = 0; link < links; ++link) {
    if (is_all || link == asked.scope_id) totals += link_totals(scenario, gpu, link, played_ns);
  }
  switch (asked.field_id) {
    case field::kNvLinkDataTx:
      return totals.sent_bytes / kKibi;
    case field::kNvLinkDataRx:
      return totals.received_bytes / kKibi;
    case field::kNvLinkErrorReplay:
      return totals.errors_of(abi::nvlink_error::kReplay);
    case field::kNvLinkErrorRecovery:
      return totals.errors_of(abi::nvlink_error::kRecovery);
    case field::kNvLinkErrorCrc:
      return totals.errors_of(abi::nvlink_error::kCrcFlit);
    default:
      break;
  }
  if (is_all) return std::nullopt;
  const LinkNow now = link_at(scenario, gpu, asked.scope_id, played_ns);
  const bool is_up = now.state == LinkState::kUp;
  switch (asked.field_id) {
    case field::kNvLinkGetSpeed:
      return is_up ? profile_by_key(scenario.devices[gpu].profile)->nvlink_mb_per_second : 0;
    case field::kNvLinkGetState:
      return is_up ? 1 : 0;
    case field::kNvLinkGetVersion:
      return now.version;
    default:
      return std::nullopt;
  }
}

bool is_of_links(unsigned id) {
  return id == field::kNvLinkDataTx || id == field::kNvLinkDataRx ||
         (id >= field::kNvLinkErrorReplay && id <= field::kNvLinkGetVersion);
}

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

void answer_link(const Scenario& scenario, std::uint32_t gpu, std::int64_t played_ns,
                 FieldValue& out) {
  const bool is_one = out.scope_id < count_links(scenario, gpu);
  if (is_one && link_at(scenario, gpu, out.scope_id, played_ns).state == LinkState::kUnknown) {
    out.nvml_return = Return::kUnknown;
    return;
  }
  const std::optional<std::uint64_t> value = link_answer(scenario, gpu, out, played_ns);
  if (value) return store(out, ValueType::kUnsignedLongLong, *value);
  out.nvml_return = Return::kNotSupported;
}

void answer(const Scenario& scenario, const Gpu& gpu, const Moment& moment, FieldValue& out) {
  out.timestamp = moment.wall_ns / 1000;
  out.latency_us = 0;
  for (const Answer& known : kAnswers) {
    if (known.id == out.field_id) {
      return store(out, known.type, gpu.read_u64(known.column, moment.played_ns));
    }
  }
  if (is_of_links(out.field_id)) {
    return answer_link(scenario, gpu.number(), moment.played_ns, out);
  }
  if (is_zero_violation(out.field_id)) return store(out, ValueType::kUnsignedLongLong, 0);
  const std::uint32_t links = count_links(scenario, gpu.number());
  switch (out.field_id) {
    case field::kNvLinkCount:
      if (links > 0) return store(out, ValueType::kUnsignedInt, links);
      break;
    case field::kNvLinkSpeedCommon:
      if (links == 0) break;
      return store(out, ValueType::kUnsignedInt, gpu.profile().nvlink_mb_per_second);
    case field::kPowerMinLimit:
      return store(out, ValueType::kUnsignedInt, kPowerLimitMinMw);
    case field::kPowerMaxLimit:
    case field::kPowerDefaultLimit:
      return store(out, ValueType::kUnsignedInt, kPowerLimitMw);
    default:
      break;
  }
  out.nvml_return = Return::kNotSupported;
}

}  // namespace

namespace everywatt::sim::driver {

Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  const Entry entry = enter("nvmlDeviceGetFieldValues", device);
  if (entry.outcome) return *entry.outcome;
  if (!values || count <= 0) return Return::kInvalidArgument;
  for (int i = 0; i < count; ++i)
    answer(entry.library->scenario(), *entry.gpu, entry.moment, values[i]);
  return Return::kSuccess;
}

}  // namespace everywatt::sim::driver
