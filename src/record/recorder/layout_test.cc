// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/catalog.h"
#include "record/recorder/tables.h"

namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::Scope;

TEST(Layout, DefaultRingsHoldFifteenMinutes) {
  EXPECT_EQ(default_capacity(Scope::kGpu, Lane::kGauge), 9000U);    // each 100 ms
  EXPECT_EQ(default_capacity(Scope::kGpu, Lane::kPower), 43479U);   // each 20.7 ms
  EXPECT_EQ(default_capacity(Scope::kGpu, Lane::kGpm), 900U);       // each second
  EXPECT_EQ(default_capacity(Scope::kGpu, Lane::kProcess), 3600U);  // 4 each second
  EXPECT_EQ(default_capacity(Scope::kGpu, Lane::kSlow), 90U);       // each 10 s
  EXPECT_EQ(default_capacity(Scope::kNode, Lane::kHost), 900U);
  EXPECT_EQ(default_capacity(Scope::kNode, Lane::kHostProcess), 14400U);  // 16 each second
  EXPECT_GE(default_capacity(Scope::kPart, Lane::kEvent), 1000U);
}

TEST(Layout, ScopesHaveNoRingsOfLanesThatTheyLack) {
  EXPECT_EQ(default_capacity(Scope::kDisk, Lane::kGauge), 0U);
  EXPECT_EQ(default_capacity(Scope::kGpu, Lane::kHost), 0U);
  // Users and commands lie in a file of their own.
  EXPECT_EQ(default_capacity(Scope::kNode, Lane::kIdentity), 0U);
}

// All that one GPU can make exist, instances aside.
TEST(Layout, AGpuTakesAtMostSixMebibytes) {
  std::uint64_t bytes = sizeof(DeviceSlot);
  for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
    const auto name = static_cast<Lane>(lane);
    const std::uint64_t capacity = default_capacity(Scope::kGpu, name);
    if (capacity == 0) continue;
    bytes += sizeof(RingEntry) +
             ring_bytes(row_words(catalog::schema(Scope::kGpu, name).cells), capacity);
  }
  EXPECT_LE(bytes, 6U << 20);
  EXPECT_GE(bytes, 3U << 20);  // else the numbers above are not those of the catalog
}

TEST(Layout, LiveFileHasTheMachineThePartsAndSlotsToSpare) {
  const LayoutOptions layout = live_layout({.gpus = 2,
                                            .spare_gpus = 1,
                                            .migs_per_gpu = 2,
                                            .disks = 1,
                                            .interfaces = 2,
                                            .infiniband_ports = 1});
  std::vector<Scope> scopes;
  std::vector<std::uint32_t> parents;
  for (const DevicePlan& device : layout.devices) {
    scopes.push_back(device.scope);
    parents.push_back(device.parent);
  }
  using enum Scope;
  EXPECT_EQ(scopes, (std::vector<Scope>{kNode, kPart, kPart, kPart, kPart, kGpu, kGpu, kGpu, kGpu,
                                        kGpu, kGpu, kGpu, kGpu, kGpu, kDisk, kInterface, kInterface,
                                        kInfiniband}));
  EXPECT_EQ(std::vector(parents.begin() + 5, parents.begin() + 14),
            (std::vector<std::uint32_t>{kNoParent, kNoParent, kNoParent, 5, 5, 6, 6, 7, 7}));
}

TEST(Layout, InstancesHoldFifteenMinutesOfOneASecond) {
  const Tables tables = plan_tables(live_layout({.gpus = 1, .spare_gpus = 0})).value();
  for (const RingConstants& ring : tables.rings) {
    const bool is_instance = tables.devices[ring.device].parent != kNoParent;
    if (is_instance) {
      EXPECT_LE(ring.capacity, 900U);
    }
    if (is_instance && ring.lane == static_cast<unsigned>(Lane::kGauge)) {
      EXPECT_EQ(ring.capacity, 900U);
    }
  }
}

TEST(Layout, IdentitiesHaveAFileOfTheirOwn) {
  const Tables tables = plan_tables(identities_layout()).value();
  ASSERT_EQ(tables.rings.size(), 1U);
  EXPECT_EQ(tables.rings[0].lane, static_cast<unsigned>(Lane::kIdentity));
  EXPECT_EQ(tables.rings[0].writer, static_cast<unsigned>(Part::kHost));
  EXPECT_EQ(tables.source, Source::kIdentities);
  EXPECT_LE(tables.file_bytes, 3U << 20);
}

TEST(Layout, MarksHaveAFileOfTheirOwn) {
  const Tables tables = plan_tables(journal_layout()).value();
  ASSERT_EQ(tables.rings.size(), 1U);
  EXPECT_EQ(tables.rings[0].lane, static_cast<unsigned>(Lane::kEvent));
  EXPECT_EQ(tables.rings[0].writer, static_cast<unsigned>(Part::kServer));
  EXPECT_EQ(tables.rings[0].capacity, 8192U);
  EXPECT_EQ(tables.source, Source::kJournal);
  EXPECT_LE(tables.file_bytes, 10U << 20);
  EXPECT_EQ(default_capacity(Scope::kNode, Lane::kEvent), 0U);
}

TEST(Layout, EachRingIsWrittenByWhoReadsItsSource) {
  const Tables tables = plan_tables(live_layout({.gpus = 1})).value();
  unsigned part = 0;
  for (const RingConstants& ring : tables.rings) {
    const auto scope = static_cast<Scope>(tables.devices[ring.device].scope);
    const auto lane = static_cast<Lane>(ring.lane);
    const auto writer = static_cast<Part>(ring.writer);
    if (scope == Scope::kGpu) {
      EXPECT_EQ(writer, Part::kSampler);
    }
    if (scope == Scope::kNode || scope == Scope::kDisk) {
      EXPECT_EQ(writer, Part::kHost);
    }
    if (scope == Scope::kPart && lane == Lane::kPart) {
      EXPECT_EQ(writer, Part::kHost);
    }
    if (lane == Lane::kSampling) {
      EXPECT_EQ(writer, static_cast<Part>(part++));
    }
  }
  EXPECT_EQ(part, kPartCount);
}

TEST(Layout, RingsAndTablesLieApartAndInsideTheFile) {
  for (const unsigned gpus : {0U, 1U, 8U, 64U}) {
    const Tables tables = plan_tables(live_layout({.gpus = gpus})).value();
    std::uint64_t end = tables.table_bytes();
    EXPECT_GE(end, tables.ring_offset + tables.rings.size() * sizeof(RingEntry));
    for (const RingConstants& ring : tables.rings) {
      EXPECT_EQ(ring.offset % kPageBytes, 0U);
      EXPECT_EQ(ring.offset, end);
      end = ring.offset + ring_bytes(ring.row_words, ring.capacity);
    }
    EXPECT_EQ(end, tables.file_bytes);
  }
}

TEST(Layout, MoreThanAFileMayHaveIsRefused) {
  LayoutOptions options;
  options.devices.resize(kMaxDevices + 1);
  EXPECT_EQ(plan_tables(options).error().code, base::Code::kInvalidArgument);

  options = {.devices = {{.scope = Scope::kGpu}},
             .rings = {{.device = 0, .lane = Lane::kGauge, .capacity = kMaxCapacity + 1}}};
  EXPECT_EQ(plan_tables(options).error().code, base::Code::kInvalidArgument);

  options = {.devices = {{.scope = Scope::kDisk}, {.scope = Scope::kGpu, .parent = 0}}};
  EXPECT_EQ(plan_tables(options).error().message, "device 0 cannot be a parent");
}

}  // namespace
}  // namespace everywatt::recorder
