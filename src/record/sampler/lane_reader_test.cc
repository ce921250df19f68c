// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/lane_reader.h"

#include <gtest/gtest.h>

#include "device/nvml/fake_driver.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;
using nvml::abi::Return;

constexpr std::int64_t kMs = 1'000'000;

int calls = 0;
Return answer = Return::kSuccess;

class LaneReaderTest : public testing::Test {
 protected:
  LaneReaderTest() {
    driver_.set(
        "nvmlDeviceGetUtilizationRates", +[](nvml::abi::Device, nvml::abi::Utilization* rates) {
          ++calls;
          *rates = {.gpu = 50, .memory = 10};
          return answer;
        });
    library_ = driver_.open();
    device_.emplace(*nvml::Device::open_nth(*library_, 0, {}));
    calls = 0;
    answer = Return::kSuccess;
  }
  State read_at(std::int64_t ms) {
    row_.clear();
    row_.time_ns = ms * kMs;
    reader_.read(*device_, 100 * kMs, row_);
    return row_.state(MetricId::gpu_utilization_ratio);
  }

  nvml::FakeDriver driver_;
  std::unique_ptr<nvml::Library> library_;
  std::optional<nvml::Device> device_;
  LaneReader reader_{Lane::kGauge};
  Row row_{Scope::kGpu, Lane::kGauge};
};

TEST_F(LaneReaderTest, SourceIsReadAtItsPeriod) {
  EXPECT_EQ(read_at(1'000), State::kOk);
  EXPECT_EQ(read_at(1'100), State::kNotRead);
  EXPECT_EQ(read_at(1'200), State::kOk);
  EXPECT_EQ(calls, 2);
}

TEST_F(LaneReaderTest, JitterOfATickDoesNotSkipASource) {
  read_at(1'000);
  EXPECT_EQ(read_at(1'103), State::kNotRead);
  EXPECT_EQ(read_at(1'198), State::kOk);
}

TEST_F(LaneReaderTest, UnsupportedSourceIsRememberedForTenMinutes) {
  answer = Return::kNotSupported;
  EXPECT_EQ(read_at(1'000), State::kNotSupported);
  EXPECT_EQ(read_at(2'000), State::kNotSupported);
  EXPECT_EQ(read_at(600'000), State::kNotSupported);
  EXPECT_EQ(calls, 1);
  answer = Return::kSuccess;
  EXPECT_EQ(read_at(601'000), State::kOk);
}

TEST_F(LaneReaderTest, DeniedSourceIsTriedEachMinute) {
  answer = Return::kNoPermission;
  read_at(1'000);
  EXPECT_EQ(read_at(60'000), State::kNoPermission);
  EXPECT_EQ(calls, 1);
  read_at(61'000);
  EXPECT_EQ(calls, 2);
}

TEST_F(LaneReaderTest, FailedSourceIsTriedAtEachTick) {
  answer = Return::kUnknown;
  EXPECT_EQ(read_at(1'000), State::kFailed);
  EXPECT_EQ(read_at(1'200), State::kFailed);
  EXPECT_EQ(calls, 2);
}

TEST_F(LaneReaderTest, ResetForgetsWhatIsUnsupported) {
  answer = Return::kNotSupported;
  read_at(1'000);
  reader_.reset();
  answer = Return::kSuccess;
  EXPECT_EQ(read_at(1'100), State::kOk);
}

}  // namespace
}  // namespace everywatt::sampler
