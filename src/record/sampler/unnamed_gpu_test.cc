// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/unnamed_gpu.h"

#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using recorder::DeviceStatus;

class UnnamedGpuTest : public LanesFixture {};

TEST_F(UnnamedGpuTest, GpuThatFailsBeforeTheDriverNamesItHasItsNumberAndAddress) {
  begin(device("gemm") + device("fed") +
            "[[fault]]\nfunction = \"*\"\ngpu = 1\nreturn = \"GPU_IS_LOST\"\nuntil_ms = 1000\n",
        2);
  run_until_ms(500);
  EXPECT_EQ(status_of(1), DeviceStatus::kLost);
  EXPECT_EQ(reader_->device(slot(1)).index, 1u);
  EXPECT_EQ(row(slot(1), Lane::kOnce).text(MetricId::gpu_pci_address), "00000000:02:00.0");
  EXPECT_EQ(row(slot(1), Lane::kOnce).text(MetricId::gpu_uuid), "");
  EXPECT_EQ(row_count(slot(1), Lane::kOnce), 1u);
  // What the driver says takes its place.
  run_until_ms(8'000);
  EXPECT_EQ(status_of(1), DeviceStatus::kOk);
  EXPECT_EQ(row_count(slot(1), Lane::kOnce), 2u);
  EXPECT_NE(row(slot(1), Lane::kOnce).text(MetricId::gpu_uuid), "");
}

TEST_F(UnnamedGpuTest, GpuThatWasNamedKeepsItsName) {
  begin(device("gemm") + "[[fault]]\nfunction = \"*\"\nreturn = \"GPU_IS_LOST\"\nfrom_ms = 1000\n",
        1);
  run_until_ms(900);
  const std::string uuid(row(slot(0), Lane::kOnce).text(MetricId::gpu_uuid));
  run_until_ms(2'000);
  EXPECT_EQ(status_of(0), DeviceStatus::kLost);
  EXPECT_EQ(row(slot(0), Lane::kOnce).text(MetricId::gpu_uuid), uuid);
}

TEST(UnnamedGpu, AddressIsWrittenAsTheDriverWritesIt) {
  const auto file = *recorder::File::create_anonymous(recorder::live_layout({.gpus = 2}));
  const std::vector<std::uint32_t> slots = file->slots(catalog::Scope::kGpu);
  describe_unnamed_gpu(*file, slots[1], 1, "10000:af:00.0", 5);
  describe_unnamed_gpu(*file, slots[0], 7, "", 5);
  catalog::Row row(catalog::Scope::kGpu, Lane::kOnce);
  ASSERT_TRUE(file->writer(slots[1], Lane::kOnce)->read_last(row));
  EXPECT_EQ(row.text(MetricId::gpu_pci_address), "00010000:AF:00.0");
  EXPECT_EQ(row.time_ns, 5);
  EXPECT_EQ(file->device(slots[0]).index.load(), 7u);
  EXPECT_FALSE(file->writer(slots[0], Lane::kOnce)->read_last(row));
}

}  // namespace
}  // namespace everywatt::sampler
