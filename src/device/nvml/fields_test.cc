// SPDX-License-Identifier: Apache-2.0
//
// Issue P019: one bad member of a batch makes others wrong or absent.
#include <gtest/gtest.h>

#include <array>

#include "device/nvml/device.h"
#include "device/nvml/fake_driver.h"

namespace everywatt::nvml {
namespace {

using abi::FieldValue;
using abi::Return;
using abi::ValueType;

constexpr unsigned kBad = 2;

int batches = 0;  // calls with more than one field
int singles = 0;

void answer(FieldValue& value) {
  value.nvml_return = Return::kSuccess;
  value.value_type = ValueType::kUnsignedInt;
  value.value.u32 = value.field_id * 10;
}

// Fails field 2, and spoils the one behind it.
Return spoiling(abi::Device, int count, FieldValue* values) {
  ++(count > 1 ? batches : singles);
  for (int i = 0; i < count; ++i) {
    answer(values[i]);
    if (values[i].field_id == kBad) {
      values[i].nvml_return = Return::kUnknown;
      values[i].value.u32 = 0xdead;
    } else if (i > 0 && values[i - 1].field_id == kBad) {
      values[i].value.u32 = 0xbeef;
    }
  }
  return Return::kSuccess;
}

class FieldsTest : public testing::Test {
 protected:
  void open(Return (*function)(abi::Device, int, FieldValue*)) {
    driver_.set("nvmlDeviceGetFieldValues", function);
    library_ = driver_.open();
    device_.emplace(*Device::open_nth(*library_, 0, {}));
    batches = singles = 0;
  }
  std::array<Field, 4> read() {
    std::array fields = {Field{.id = 1}, Field{.id = kBad}, Field{.id = 3}, Field{.id = 4}};
    device_->read_fields(fields);
    return fields;
  }

  FakeDriver driver_;
  std::unique_ptr<Library> library_;
  std::optional<Device> device_;
};

TEST_F(FieldsTest, SpoiltNeighbourIsReadAgainSingly) {
  open(spoiling);
  const auto fields = read();
  EXPECT_EQ(fields[0].bits, 10u);
  EXPECT_EQ(fields[1].code, Return::kUnknown);
  EXPECT_EQ(fields[2].bits, 30u);
  EXPECT_EQ(fields[3].bits, 40u);
}

TEST_F(FieldsTest, BadMemberStaysOutOfTheBatch) {
  open(spoiling);
  read();
  batches = singles = 0;
  const auto fields = read();
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(singles, 1) << "a failed one is asked by itself";
  EXPECT_EQ(fields[2].bits, 30u);
  EXPECT_EQ(fields[3].bits, 40u);
}

TEST_F(FieldsTest, UnsupportedMemberIsAskedForRarely) {
  open([](abi::Device, int count, FieldValue* values) {
    ++(count > 1 ? batches : singles);
    for (int i = 0; i < count; ++i) {
      answer(values[i]);
      if (values[i].field_id == kBad) values[i].nvml_return = Return::kNotSupported;
    }
    return Return::kSuccess;
  });
  read();
  singles = 0;
  for (int i = 0; i < 999; ++i)
    EXPECT_EQ(read()[1].code, Return::kNotSupported);
  EXPECT_EQ(singles, 0);
  read();
  EXPECT_EQ(singles, 1);
}

TEST_F(FieldsTest, BatchRefusedAsAWholeIsReadSingly) {
  open([](abi::Device, int count, FieldValue* values) {
    if (count > 1) return Return::kInvalidArgument;
    answer(values[0]);
    if (values[0].field_id == kBad) values[0].nvml_return = Return::kNotSupported;
    return Return::kSuccess;
  });
  const auto fields = read();
  EXPECT_EQ(fields[0].bits, 10u);
  EXPECT_EQ(fields[1].code, Return::kNotSupported);
  EXPECT_EQ(fields[3].bits, 40u);
}

TEST_F(FieldsTest, LostGpuIsNotAskedFourTimes) {
  open([](abi::Device, int, FieldValue*) {
    ++singles;
    return Return::kGpuIsLost;
  });
  EXPECT_EQ(read()[3].code, Return::kGpuIsLost);
  EXPECT_EQ(singles, 1);
  EXPECT_EQ(device_->take_condition(), catalog::State::kLost);
}

TEST_F(FieldsTest, UntouchedAnswerIsNoAnswer) {
  open([](abi::Device, int, FieldValue*) { return Return::kSuccess; });
  EXPECT_EQ(read()[0].code, Return::kUnknown);
}

TEST_F(FieldsTest, TypesAreWidened) {
  open([](abi::Device, int count, FieldValue* values) {
    for (int i = 0; i < count; ++i) {
      values[i].nvml_return = Return::kSuccess;
      values[i].value_type = ValueType::kUnsignedInt;
      values[i].value.u32 = ~0u;
      if (values[i].field_id == 3) {
        values[i].value_type = ValueType::kSignedInt;
        values[i].value.i32 = -7;
      }
      if (values[i].field_id == 4) values[i].value_type = ValueType::kDouble;
    }
    return Return::kSuccess;
  });
  const auto fields = read();
  EXPECT_EQ(fields[0].bits, ~std::uint64_t{0}) << "a blank of 32 bits is one of 64";
  EXPECT_TRUE(fields[2].is_signed);
  EXPECT_EQ(static_cast<std::int64_t>(fields[2].bits), -7);
  EXPECT_EQ(fields[3].code, Return::kUnknown) << "a type that no field of ours has";
}

}  // namespace
}  // namespace everywatt::nvml
