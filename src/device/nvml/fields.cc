// SPDX-License-Identifier: Apache-2.0
//
// Batched field values. One bad member of a batch can spoil what stands behind it, or make the
// driver refuse the whole, so a member that fails is kept out of batches.
#include <algorithm>
#include <array>

#include "base/check.h"
#include "device/nvml/device.h"

namespace everywatt::nvml {
namespace {

using abi::FieldValue;
using abi::Return;
using abi::ValueType;

constexpr std::size_t kBatch = 64;
// An unsupported field is tried again after so many rows: a minute and a half at ten a second.
constexpr unsigned kSkips = 1000;

std::uint64_t widen(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

void take(const FieldValue& value, Field& field) {
  field.code = value.nvml_return;
  field.is_signed = false;
  field.bits = 0;
  if (field.code != Return::kSuccess) return;
  const auto unsigned_bits = [](auto number) -> std::uint64_t {
    return is_blank(number) ? ~std::uint64_t{0} : number;
  };
  switch (value.value_type) {
    case ValueType::kUnsignedInt:
      field.bits = unsigned_bits(value.value.u32);
      return;
    case ValueType::kUnsignedLong:
    case ValueType::kUnsignedLongLong:
      field.bits = value.value.u64;
      return;
    case ValueType::kUnsignedShort:
      field.bits = unsigned_bits(value.value.u16);
      return;
    case ValueType::kSignedInt:
      field.is_signed = true;
      field.bits = widen(value.value.i32);
      return;
    case ValueType::kSignedLongLong:
      field.is_signed = true;
      field.bits = widen(value.value.i64);
      return;
    case ValueType::kDouble:
      break;
  }
  // No field that we ask for is a double, and a type that we do not know we do not guess.
  field.code = Return::kUnknown;
}

FieldValue question(const Field& field) {
  FieldValue value{};
  value.field_id = field.id;
  value.scope_id = field.scope;
  // What the driver leaves untouched must not look like an answer.
  value.nvml_return = Return::kUnknown;
  return value;
}

}  // namespace

Device::Isolated* Device::find_isolated(const Field& field) {
  const auto found = std::ranges::find_if(isolated_, [&](const Isolated& known) {
    return known.id == field.id && known.scope == field.scope;
  });
  return found == isolated_.end() ? nullptr : &*found;
}

void Device::read_single(Field& field) {
  FieldValue value = question(field);
  const Return code = call<Call::kDeviceGetFieldValues>(1, &value);
  if (code != Return::kSuccess) value.nvml_return = code;
  take(value, field);
  note(field.code);
}

void Device::read_fields(std::span<Field> fields) {
  CHECK(fields.size() <= kBatch);
  std::array<FieldValue, kBatch> values;
  std::array<Field*, kBatch> asked{};
  std::size_t count = 0;
  for (Field& field : fields) {
    Isolated* const known = find_isolated(field);
    if (known == nullptr) {
      values[count] = question(field);
      asked[count++] = &field;
      continue;
    }
    const bool is_rare = state_of(known->code) == catalog::State::kNotSupported;
    field.code = known->code;
    if (is_rare && ++known->skipped < kSkips) continue;
    known->skipped = 0;
    read_single(field);
    known->code = field.code;
  }
  if (count == 0) return;

  const Return code = call<Call::kDeviceGetFieldValues>(static_cast<int>(count), values.data());
  // The whole batch refused because of the state that the GPU is in: singly it is no better.
  const catalog::State state = state_of(code);
  if (state == catalog::State::kLost || state == catalog::State::kFailed ||
      code == Return::kFunctionNotFound) {
    for (std::size_t i = 0; i < count; ++i)
      asked[i]->code = code;
    return;
  }
  bool is_spoilt = code != Return::kSuccess;
  for (std::size_t i = 0; i < count; ++i) {
    Field& field = *asked[i];
    take(values[i], field);
    if (is_spoilt || values[i].field_id != field.id) read_single(field);
    if (field.code == Return::kSuccess) continue;
    note(field.code);
    is_spoilt = true;
    isolated_.push_back({field.id, field.scope, field.code, 0});
  }
}

}  // namespace everywatt::nvml
