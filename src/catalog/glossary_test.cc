// SPDX-License-Identifier: Apache-2.0
#include "catalog/glossary.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "catalog/bands.h"
#include "catalog/event.h"

namespace everywatt::catalog {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t bit(unsigned number) {
  return std::uint64_t{1} << number;
}

TEST(GlossaryTest, EveryStateHasWordsInBothLanguages) {
  for (unsigned i = 0; i < kStateCount; ++i) {
    const auto state = static_cast<State>(i);
    EXPECT_FALSE(state_word(state, Lang::kEn).empty());
    EXPECT_FALSE(state_word(state, Lang::kZh).empty());
    EXPECT_TRUE(state_sentence(state, Lang::kEn).ends_with(".")) << state_name(state);
    EXPECT_TRUE(state_sentence(state, Lang::kZh).ends_with("。")) << state_name(state);
  }
  EXPECT_EQ(state_word(State::kTimedOut, Lang::kEn), "timed out");
  EXPECT_EQ(state_word(State::kNotSupported, Lang::kZh), "不支持");
}

TEST(ClockEventTest, KnownBitsHaveTheirSlugs) {
  EXPECT_EQ(clock_event_slug(0), "gpu_idle");
  EXPECT_EQ(clock_event_slug(2), "sw_power_cap");
  EXPECT_EQ(clock_event_slug(7), "hw_power_brake_slowdown");
  EXPECT_EQ(clock_event_text(2, Lang::kZh), "功耗上限");
  EXPECT_THAT(clock_event_reasons(), SizeIs(9));
  for (const ClockEventReason& reason : clock_event_reasons()) {
    EXPECT_FALSE(reason.slug.empty() || reason.dcgm.empty() || reason.en.empty() ||
                 reason.zh.empty())
        << reason.bit;
  }
}

TEST(ClockEventTest, AnUnknownBitIsShownAsSuch) {
  EXPECT_EQ(clock_event_slug(11), "unknown_bit_11");
  EXPECT_THAT(clock_event_slugs(bit(2) | bit(63)), ElementsAre("sw_power_cap", "unknown_bit_63"));
  EXPECT_EQ(format_clock_events(bit(3) | bit(20), Lang::kEn), "hardware slowdown, unknown bit 20");
  EXPECT_EQ(format_clock_events(bit(3) | bit(20), Lang::kZh), "硬件降频、未知位 20");
}

TEST(ClockEventTest, NoBitIsNone) {
  EXPECT_THAT(clock_event_slugs(0), IsEmpty());
  EXPECT_EQ(format_clock_events(0, Lang::kEn), "none");
  EXPECT_EQ(format_clock_events(0, Lang::kZh), "无");
}

TEST(ClockEventTest, IdleAndChosenClocksAreNoThrottling) {
  EXPECT_FALSE(is_throttling(0));
  EXPECT_FALSE(is_throttling(bit(0) | bit(1) | bit(8)));
  EXPECT_TRUE(is_throttling(bit(2)));
  EXPECT_TRUE(is_throttling(bit(0) | bit(40)));
}

TEST(ClockEventTest, HighBitsShareTheLastInstance) {
  EXPECT_EQ(clock_event_instance(8), 8u);
  EXPECT_EQ(clock_event_instance(15), 15u);
  EXPECT_EQ(clock_event_instance(63), 15u);
  EXPECT_EQ(instance_name(MetricId::gpu_clock_event_seconds_total, 2), "sw_power_cap");
  EXPECT_EQ(instance_name(MetricId::gpu_clock_event_seconds_total, 12), "unknown_bit_12");
  EXPECT_EQ(instance_name(MetricId::gpu_clock_event_seconds_total, 15), "other");
}

TEST(XidTest, KnownCodesHaveTextsAndOthersAPhrase) {
  EXPECT_EQ(xid_text(79, Lang::kEn), "GPU has fallen off the bus");
  EXPECT_EQ(xid_text(48, Lang::kZh), "内存出现不可纠正的 ECC 错误");
  EXPECT_EQ(xid_text(31, Lang::kEn),
            "memory page fault: a kernel touched an address that is not mapped");
  EXPECT_EQ(xid_text(147, Lang::kEn), "NVLink error");
  EXPECT_EQ(xid_text(9999, Lang::kEn), "another error of the driver");
  EXPECT_EQ(xid_text(0, Lang::kZh), "其他驱动错误");
}

TEST(XidTest, KnowsTheEndsOfARangeAndTheGapsBetween) {
  EXPECT_FALSE(is_known_xid(0));
  EXPECT_TRUE(is_known_xid(1));
  EXPECT_TRUE(is_known_xid(4));
  EXPECT_FALSE(is_known_xid(5));
  EXPECT_TRUE(is_known_xid(157));
  EXPECT_FALSE(is_known_xid(158));
  EXPECT_FALSE(is_known_xid(std::numeric_limits<std::uint64_t>::max()));
}

TEST(InstanceNameTest, EachLabelHasItsOwnWords) {
  EXPECT_EQ(instance_name(MetricId::gpu_nvlink_state, 17), "17");
  EXPECT_EQ(instance_name(MetricId::gpu_xid_errors_total, 79), "79");
  EXPECT_EQ(instance_name(MetricId::gpu_ecc_location_corrected_volatile_errors_total, 2), "dram");
  EXPECT_EQ(instance_name(MetricId::everywatt_ticks_total, 0), "gauge");
  EXPECT_EQ(instance_name(MetricId::gpu_utilization_sampled_ratio_bucket, 0), "0.01");
  EXPECT_EQ(instance_name(MetricId::gpu_utilization_sampled_ratio_bucket, 12), "1");
  EXPECT_EQ(instance_name(MetricId::gpu_power_sampled_watts_bucket, 10), "+Inf");
}

TEST(InstanceNameTest, NoTwoInstancesOfAMetricShareAName) {
  for (std::size_t i = 0; i < metrics().size(); ++i) {
    std::vector<std::string> names;
    for (unsigned n = 0; n < metrics()[i].instances; ++n) {
      names.push_back(instance_name(static_cast<MetricId>(i), n));
    }
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << metrics()[i].name;
  }
}

TEST(HistogramTest, BandsHoldTheirUpperBound) {
  const MetricId id = MetricId::gpu_utilization_sampled_ratio_bucket;
  EXPECT_EQ(histogram_bounds(id).size(), metric(id).instances);
  EXPECT_EQ(band_of(histogram_bounds(id), 0), 0u);
  EXPECT_EQ(band_of(histogram_bounds(id), 0.01), 0u);
  EXPECT_EQ(band_of(histogram_bounds(id), 0.011), 1u);
  EXPECT_EQ(band_of(histogram_bounds(id), 0.95), 11u);
  EXPECT_EQ(band_of(histogram_bounds(id), 1), 12u);
}

TEST(HistogramTest, PowerHasABandAboveItsLimit) {
  const MetricId id = MetricId::gpu_power_sampled_watts_bucket;
  EXPECT_EQ(histogram_bounds(id).size() + 1, metric(id).instances);
  EXPECT_EQ(band_of(histogram_bounds(id), 678.0 / 700), 9u);
  EXPECT_EQ(band_of(histogram_bounds(id), 942.0 / 700), 10u);
  EXPECT_THAT(histogram_bounds(MetricId::gpu_power_watts), IsEmpty());
}

TEST(FormatValueTest, ShowsAValueInTheUnitThatSuitsIt) {
  EXPECT_EQ(format_value(MetricId::gpu_power_watts, 678), "678 W");
  EXPECT_EQ(format_value(MetricId::gpu_power_watts, 80.621), "80.6 W");
  EXPECT_EQ(format_value(MetricId::gpu_memory_used_bytes, 43'161'485'312), "40.2 GiB");
  EXPECT_EQ(format_value(MetricId::gpu_memory_used_bytes, 0), "0 B");
  EXPECT_EQ(format_value(MetricId::gpu_utilization_ratio, 0.97), "97 %");
  EXPECT_EQ(format_value(MetricId::gpu_sm_active_ratio, 0.0853), "8.53 %");
  EXPECT_EQ(format_value(MetricId::gpu_sm_clock_hertz, 1.98e9), "1.98 GHz");
  EXPECT_EQ(format_value(MetricId::gpu_memory_clock_hertz, 3.201e9), "3.20 GHz");
  EXPECT_EQ(format_value(MetricId::gpu_pcie_receive_bytes_per_second, 12.4e9), "12.4 GB/s");
  EXPECT_EQ(format_value(MetricId::gpu_temperature_celsius, 37), "37 °C");
  EXPECT_EQ(format_value(MetricId::everywatt_lateness_p99_seconds, 0.0207), "20.7 ms");
  EXPECT_EQ(format_value(MetricId::gpu_energy_joules_total, 7.2e6), "2 kWh");
  EXPECT_EQ(format_value(MetricId::gpu_performance_state, 8), "P8");
  EXPECT_EQ(format_value(MetricId::gpu_clock_event_reasons_mask, 4), "0x4");
  EXPECT_EQ(format_value(MetricId::gpu_pcie_replays_total, 123'456), "123456");
  EXPECT_EQ(format_value(MetricId::gpu_minor_number, 3), "3");
}

TEST(EventTest, KindsAndSourcesHaveNames) {
  EXPECT_EQ(event_kind_name(EventKind::kXid), "xid");
  EXPECT_EQ(event_kind_name(EventKind::kGpuLost), "gpu_lost");
  EXPECT_EQ(event_kind_name(EventKind::kPowerLimitChanged), "power_limit_changed");
  EXPECT_EQ(event_source_name(EventSource::kKernelLog), "kernel_log");
  EXPECT_EQ(event_source_name(EventSource::kUser), "user");
}

TEST(EventTest, ANumberFromANewerVersionIsUnknown) {
  EXPECT_EQ(event_kind_name(static_cast<EventKind>(200)), "unknown");
  EXPECT_EQ(event_source_name(static_cast<EventSource>(200)), "unknown");
}

TEST(EventTest, NamesLeadBackToKinds) {
  for (unsigned i = 1; i < kEventKindCount; ++i) {
    const auto kind = static_cast<EventKind>(i);
    EXPECT_EQ(event_kind_by_name(event_kind_name(kind)), kind);
  }
  EXPECT_FALSE(event_kind_by_name("unknown"));
  EXPECT_FALSE(event_kind_by_name("nonsense"));
}

}  // namespace
}  // namespace everywatt::catalog
