// SPDX-License-Identifier: Apache-2.0
//
// GPUs that come and go, fall off the bus and are counted anew, as one GPU's watch sees it.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "record/sampler/gpu_roster.h"
#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::State;
using recorder::DeviceStatus;
using testing::ElementsAre;
using testing::IsEmpty;

class HotPlugTest : public LanesFixture {
 protected:
  std::uint64_t look_ups() const { return playhead().calls("nvmlDeviceGetHandleByPciBusId_v2"); }
  // What the kernel reads of the GPU's first four bytes.
  void write_config(unsigned gpu, const std::string& bytes) const {
    const std::string path = options_.host_root + "/sys/bus/pci/devices/" + address(gpu);
    std::filesystem::create_directories(path);
    std::ofstream(path + "/config") << bytes;
  }
};

TEST_F(HotPlugTest, GpuThatIsPulledIsGoneAndIsAskedNothing) {
  begin(device("gemm") + device("fed"), 2);
  run_until_ms(2'000);
  gpus_[1]->set_presence(Presence::kAbsent);
  run_until_ms(2'100);
  EXPECT_EQ(status_of(1), DeviceStatus::kGone);
  EXPECT_EQ(latest(1, MetricId::gpu_utilization_ratio).state, State::kLost);
  const std::uint64_t before = look_ups();
  run_until_ms(20'000);
  EXPECT_EQ(look_ups(), before);
  EXPECT_EQ(status_of(0), DeviceStatus::kOk);
  EXPECT_EQ(row_count(slot(0), Lane::kGauge), 201u);
  gpus_[1]->set_presence(Presence::kPresent);
  run_until_ms(20'200);
  EXPECT_EQ(status_of(1), DeviceStatus::kOk);
  EXPECT_THAT(event_lines(),
              testing::IsSupersetOf({"gpu_removed 0 removed from the machine: 0000:02:00.0",
                                     "gpu_added 0 added to the machine: 0000:02:00.0"}));
}

TEST_F(HotPlugTest, SumsGoOnWhenItIsBack) {
  begin(device("gemm"), 1);
  run_until_ms(10'000);
  const double before = value(0, MetricId::gpu_observed_seconds_total);
  gpus_[0]->set_presence(Presence::kAbsent);
  run_until_ms(20'000);
  gpus_[0]->set_presence(Presence::kPresent);
  run_until_ms(25'000);
  EXPECT_NEAR(value(0, MetricId::gpu_observed_seconds_total), before + 5, 0.3);
}

TEST_F(HotPlugTest, GpuThatTheDriverDoesNotKnowYetNeedsTheDriverAnewOnce) {
  begin(device("gemm") +
            "[[fault]]\nfunction = \"nvmlDeviceGetHandleByPciBusId_v2\"\n"
            "return = \"NOT_FOUND\"\n",
        1);
  gpus_[0]->set_new();
  run_until_ms(100);
  EXPECT_TRUE(gpus_[0]->wants_driver_anew());
  EXPECT_THAT(event_lines(), IsEmpty());
  gpus_[0]->detach();
  gpus_[0]->attach(*library_, nullptr);
  run_until_ms(120'000);
  EXPECT_FALSE(gpus_[0]->wants_driver_anew());
  EXPECT_EQ(status_of(0), DeviceStatus::kLost);
}

TEST_F(HotPlugTest, GpuOffTheBusIsLeftAloneUntilItAnswersTheKernel) {
  play(device("gemm"));
  options_.host_root = folder() + "/root";
  begin(device("gemm") + "[[fault]]\nfunction = \"*\"\nreturn = \"GPU_IS_LOST\"\nfrom_ms = 1000\n",
        1);
  write_config(0, "\xde\x10\x35\x23");
  run_until_ms(900);
  write_config(0, "\xff\xff\xff\xff");
  run_until_ms(1'100);
  EXPECT_EQ(status_of(0), DeviceStatus::kLost);
  const std::uint64_t before = look_ups();
  run_until_ms(300'000);
  EXPECT_EQ(look_ups(), before);
  EXPECT_FALSE(gpus_[0]->wants_driver_anew());
  write_config(0, "\xde\x10\x35\x23");
  run_until_ms(350'000);
  EXPECT_EQ(look_ups(), before + 1);
  EXPECT_TRUE(gpus_[0]->wants_driver_anew());
}

TEST_F(HotPlugTest, IndexIsWhatTheDriverSaysNow) {
  begin(device("gemm") + device("fed") + "[[order]]\nat_ms = 5000\norder = \"1,0\"\n", 2);
  run_until_ms(4'900);
  EXPECT_EQ(reader_->device(slot(0)).index, 0u);
  run_until_ms(10'500);
  EXPECT_EQ(reader_->device(slot(0)).index, 1u);
  EXPECT_EQ(reader_->device(slot(1)).index, 0u);
  EXPECT_EQ(row(slot(0), Lane::kOnce).reading(MetricId::gpu_index).u64(), 1u);
}

TEST_F(HotPlugTest, IndexIsAskedForSoonWhenGpusCameOrWent) {
  begin(device("gemm") + device("fed") + "[[order]]\nat_ms = 2000\norder = \"1,0\"\n", 2);
  run_until_ms(2'000);
  gpus_[0]->renumber_soon();
  run_until_ms(2'100);
  EXPECT_EQ(reader_->device(slot(0)).index, 1u);
  EXPECT_EQ(reader_->device(slot(1)).index, 1u);
}

TEST_F(HotPlugTest, GpuAtAnotherAddressIsSaidToBelongToItsOldPlace) {
  begin(device("gemm") + device("fed"), 2);
  run_until_ms(1'000);
  // Its card is in the other slot of the machine now.
  GpuRoster roster(*file_);
  roster.take(address(0), now_ns());
  const std::string uuid(row(slot(0), Lane::kOnce).text(MetricId::gpu_uuid));
  stop();
  roster.set_presence(0, Presence::kAbsent, now_ns());
  roster.set_presence(1, Presence::kPresent, now_ns());
  shared_.emplace(Shared{options_, *file_, *events_, *allowance_, *tallies_, &roster});
  library_ = make_library();
  auto gpu = GpuWatch::open(*shared_, {.pci_address = address(0), .number = 1, .slot = slot(1)});
  ASSERT_TRUE(gpu);
  const std::uint64_t rows = row_count(slot(1), Lane::kGauge);
  (*gpu)->attach(*library_, nullptr);
  (*gpu)->run_due();
  EXPECT_EQ((*gpu)->belongs_to(), 0u);
  EXPECT_EQ(row_count(slot(1), Lane::kGauge), rows);
  // The place is freed.
  (*gpu)->move_to("");
  (*gpu)->run_due();
  EXPECT_EQ(status_of(1), DeviceStatus::kUnused);
  EXPECT_EQ((*gpu)->belongs_to(), std::nullopt);
  (*gpu)->detach();
}

}  // namespace
}  // namespace everywatt::sampler
