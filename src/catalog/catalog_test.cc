// SPDX-License-Identifier: Apache-2.0
#include "catalog/catalog.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::catalog {
namespace {

using std::string_view_literals::operator""sv;
using testing::HasSubstr;
using testing::IsEmpty;

bool is_histogram_part(const Metric& metric) {
  return !metric.family.empty() && (metric.name == std::string(metric.family) + "_bucket" ||
                                    metric.name == std::string(metric.family) + "_sum");
}

TEST(CatalogTest, NamesAreUniqueAndOfSmallLettersDigitsAndSingleUnderscores) {
  std::set<std::string_view> seen;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(seen.insert(metric.name).second) << metric.name;
    EXPECT_EQ(metric.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"),
              std::string_view::npos)
        << metric.name;
    EXPECT_EQ(metric.name.find("__"), std::string_view::npos) << metric.name;
    EXPECT_TRUE(metric.name.front() >= 'a' && metric.name.back() != '_') << metric.name;
  }
}

TEST(CatalogTest, AnEnumeratorIsNamedAsItsMetric) {
  EXPECT_EQ(metric(MetricId::gpu_power_watts).name, "gpu_power_watts");
  EXPECT_EQ(metric(MetricId::everywatt_rejected_readings_total).name,
            "everywatt_rejected_readings_total");
}

TEST(CatalogTest, DcgmNamesAndIdsAreUniqueAndComeTogether) {
  std::set<std::string_view> names;
  std::set<unsigned> ids;
  for (const Metric& metric : metrics()) {
    EXPECT_EQ(metric.dcgm.empty(), metric.dcgm_id == 0) << metric.name;
    if (metric.dcgm.empty()) {
      EXPECT_THAT(metric.dcgm_alias, IsEmpty()) << metric.name;
      continue;
    }
    EXPECT_TRUE(metric.dcgm.starts_with("DCGM_FI_")) << metric.name;
    EXPECT_TRUE(names.insert(metric.dcgm).second) << metric.dcgm;
    EXPECT_TRUE(ids.insert(metric.dcgm_id).second) << metric.dcgm;
    if (!metric.dcgm_alias.empty()) {
      EXPECT_TRUE(metric.dcgm_alias.starts_with("DCGM_FI_")) << metric.name;
      EXPECT_TRUE(names.insert(metric.dcgm_alias).second) << metric.dcgm_alias;
    }
    EXPECT_GT(metric.dcgm_scale, 0) << metric.name;
  }
}

TEST(CatalogTest, NvidiaSmiNamesAreUnique) {
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    if (metric.smi.empty()) continue;
    for (const std::string_view name : base::split(metric.smi, ',')) {
      EXPECT_TRUE(names.insert(name).second) << name;
    }
  }
}

TEST(CatalogTest, ANameEndsInItsUnit) {
  const std::map<Unit, std::string_view> endings{
      {Unit::kRatio, "_ratio"},     {Unit::kBytes, "_bytes"},
      {Unit::kWatts, "_watts"},     {Unit::kJoules, "_joules"},
      {Unit::kCelsius, "_celsius"}, {Unit::kHertz, "_hertz"},
      {Unit::kSeconds, "_seconds"}, {Unit::kBytesPerSecond, "_bytes_per_second"},
  };
  for (const Metric& metric : metrics()) {
    if (is_histogram_part(metric)) continue;
    std::string_view stem = metric.name;
    if (stem.ends_with("_total")) stem.remove_suffix("_total"sv.size());
    for (const auto& [unit, ending] : endings) {
      if (unit == Unit::kBytes && stem.ends_with("_bytes_per_second")) continue;
      if (unit == Unit::kSeconds && stem.ends_with("_per_second")) continue;
      EXPECT_EQ(stem.ends_with(ending), metric.unit == unit) << metric.name;
    }
    EXPECT_EQ(metric.name.ends_with("_mask"), metric.kind == Kind::kMask) << metric.name;
  }
}

TEST(CatalogTest, CountersAndOnlyCountersEndInTotal) {
  for (const Metric& metric : metrics()) {
    if (is_histogram_part(metric)) {
      EXPECT_EQ(metric.kind, Kind::kCounter) << metric.name;
      continue;
    }
    EXPECT_EQ(metric.name.ends_with("_total"), metric.kind == Kind::kCounter) << metric.name;
  }
}

TEST(CatalogTest, NothingAboutTheMemoryControllersTimeIsCalledMemoryUtilization) {
  for (const Metric& metric : metrics()) {
    EXPECT_FALSE(metric.name.find("mem") != std::string_view::npos &&
                 metric.name.find("util") != std::string_view::npos)
        << metric.name;
  }
  EXPECT_THAT(std::string(metric(MetricId::gpu_memory_controller_active_ratio).en),
              HasSubstr("a share of time, not how full the memory is"));
}

TEST(CatalogTest, EveryTextIsASentenceInBothLanguages) {
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(metric.en.ends_with(".")) << metric.name;
    EXPECT_TRUE(metric.zh.ends_with("。")) << metric.name;
    EXPECT_EQ(metric.missing_en.empty(), metric.missing_zh.empty()) << metric.name;
    EXPECT_TRUE(metric.missing_en.empty() || metric.missing_en.ends_with(".")) << metric.name;
    EXPECT_TRUE(metric.missing_zh.empty() || metric.missing_zh.ends_with("。")) << metric.name;
    for (const std::string_view text : {metric.en, metric.zh, metric.missing_en}) {
      EXPECT_EQ(text.find('|'), std::string_view::npos) << metric.name;
    }
  }
}

TEST(CatalogTest, RowsAreConsistentWithTheirTypes) {
  for (const Metric& metric : metrics()) {
    EXPECT_EQ(metric.type == Type::kText, metric.text_cells > 0) << metric.name;
    EXPECT_GE(metric.instances, 1) << metric.name;
    EXPECT_EQ(metric.instances > 1, !metric.instance_label.empty()) << metric.name;
    EXPECT_LT(metric.range.low, metric.range.high) << metric.name;
    if (metric.unit == Unit::kRatio && metric.kind == Kind::kGauge) {
      EXPECT_EQ(metric.range.low, 0) << metric.name;
    }
    if (metric.kind == Kind::kMask) {
      EXPECT_EQ(metric.type, Type::kU64) << metric.name;
    }
  }
}

TEST(CatalogTest, MembersOfAFamilyDifferInTheirLabelsAndAgreeInUnitAndKind) {
  std::map<std::string_view, const Metric*> first;
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const Metric& metric : metrics()) {
    if (metric.family.empty() || is_histogram_part(metric)) continue;
    EXPECT_TRUE(seen.emplace(metric.family, metric.labels).second) << metric.name;
    const auto [at, is_new] = first.try_emplace(metric.family, &metric);
    EXPECT_EQ(at->second->unit, metric.unit) << metric.name;
    EXPECT_EQ(at->second->kind, metric.kind) << metric.name;
    EXPECT_EQ(at->second->instance_label, metric.instance_label) << metric.name;
    EXPECT_FALSE(metric_by_name(metric.family))
        << "family and metric share a name: " << metric.name;
  }
}

TEST(CatalogTest, CellsOfARowNeverOverlapAndLeaveNoGap) {
  std::size_t listed = 0;
  for (unsigned scope = 0; scope < kScopeCount; ++scope) {
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      const Schema& shape = schema(static_cast<Scope>(scope), static_cast<Lane>(lane));
      unsigned next = 0;
      for (const MetricId id : shape.metrics) {
        EXPECT_EQ(metric(id).scope, static_cast<Scope>(scope));
        EXPECT_EQ(metric(id).lane, static_cast<Lane>(lane));
        EXPECT_EQ(column(id).first_cell, next) << metric(id).name;
        const unsigned width = metric(id).type == Type::kText ? metric(id).text_cells : 1;
        EXPECT_EQ(column(id).cells, metric(id).instances * width) << metric(id).name;
        next += column(id).cells;
      }
      EXPECT_EQ(shape.cells, next);
      listed += shape.metrics.size();
    }
  }
  EXPECT_EQ(listed, metrics().size());
}

TEST(CatalogTest, AScopeWithoutALaneHasAnEmptySchema) {
  EXPECT_THAT(schema(Scope::kDisk, Lane::kGpm).metrics, IsEmpty());
  EXPECT_EQ(schema(Scope::kDisk, Lane::kGpm).cells, 0);
}

TEST(CatalogTest, TheGaugeRowStaysLean) {
  EXPECT_LE(schema(Scope::kGpu, Lane::kGauge).cells, 28);
  EXPECT_EQ(schema(Scope::kGpu, Lane::kPower).cells, 1);
}

TEST(FindMetricTest, AnyNameThatTheCatalogListsFindsItsMetric) {
  for (const auto name :
       {"gpu_utilization_ratio"sv, "GPU_Utilization_Ratio"sv, "DCGM_FI_DEV_GPU_UTIL"sv,
        "dcgm_fi_dev_gpu_util"sv, "DCGM_FI_DEV_GPU_UTIL_RATIO"sv, "203"sv, "utilization.gpu"sv,
        " Utilization.GPU "sv}) {
    const auto found = find_metric(name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(*found, MetricId::gpu_utilization_ratio) << name;
  }
  EXPECT_EQ(*find_metric("power.draw"), MetricId::gpu_power_watts);
  EXPECT_EQ(*find_metric("power.draw.average"), MetricId::gpu_power_watts);
  EXPECT_EQ(*find_metric("DCGM_FI_PROF_GR_ENGINE_ACTIVE"),
            MetricId::gpu_graphics_engine_active_ratio);
}

TEST(FindMetricTest, AllListedNamesLeadBack) {
  for (std::size_t i = 0; i < metrics().size(); ++i) {
    const Metric& metric = metrics()[i];
    const auto id = static_cast<MetricId>(i);
    EXPECT_EQ(*find_metric(metric.name), id);
    EXPECT_EQ(metric_by_name(metric.name), id);
    if (metric.dcgm_id != 0) {
      EXPECT_EQ(*find_metric(metric.dcgm), id);
      EXPECT_EQ(*find_metric(std::to_string(metric.dcgm_id)), id);
    }
  }
}

TEST(FindMetricTest, AMisspeltNameGetsTheNearestOne) {
  const auto found = find_metric("gpu_utilisation_ratio");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, base::Code::kNotFound);
  EXPECT_EQ(found.error().message,
            "no metric is called gpu_utilisation_ratio; the nearest is gpu_utilization_ratio");
  EXPECT_THAT(find_metric("DCGM_FI_DEV_GPU_UTL").error().message,
              HasSubstr("DCGM_FI_DEV_GPU_UTIL"));
}

TEST(FindMetricTest, WhatIsNearNothingIsNotGuessed) {
  EXPECT_EQ(find_metric("banana").error().message, "no metric is called banana");
  EXPECT_EQ(find_metric("99999").error().message, "no metric is called 99999");
  EXPECT_FALSE(find_metric(""));
  EXPECT_FALSE(find_metric("0"));
  EXPECT_EQ(find_metric("a\nb").error().message, "no metric is called a b");
}

TEST(FindMetricTest, OnlyOurOwnSpellingIsANameInAFile) {
  EXPECT_FALSE(metric_by_name("GPU_POWER_WATTS"));
  EXPECT_FALSE(metric_by_name("DCGM_FI_DEV_GPU_UTIL"));
}

TEST(RangeTest, PowerMayReachThreeTimesTheHighestLimit) {
  const Metric& power = metric(MetricId::gpu_power_watts);
  EXPECT_TRUE(is_in_range(power, 942, 700));
  EXPECT_TRUE(is_in_range(power, 2100, 700));
  EXPECT_FALSE(is_in_range(power, 2500, 700));
  EXPECT_TRUE(is_in_range(power, 2500, 0));
  EXPECT_FALSE(is_in_range(power, 3001, 0));
  EXPECT_TRUE(is_in_range(power, 3500, 1400));
  EXPECT_FALSE(is_in_range(power, -1, 700));
}

TEST(RangeTest, TheLimitChangesNoOtherRange) {
  const Metric& temperature = metric(MetricId::gpu_temperature_celsius);
  EXPECT_TRUE(is_in_range(temperature, 150, 10));
  EXPECT_FALSE(is_in_range(temperature, 151, 700));
  EXPECT_FALSE(is_in_range(metric(MetricId::gpu_utilization_ratio), 1.01, 700));
  EXPECT_FALSE(is_in_range(metric(MetricId::gpu_utilization_ratio), std::nan(""), 700));
}

TEST(AsDoubleTest, FollowsTheTypeOfTheMetric) {
  EXPECT_EQ(as_double(MetricId::gpu_power_watts, Reading::of(678.25)), 678.25);
  EXPECT_EQ(as_double(MetricId::gpu_memory_used_bytes, Reading::of(std::uint64_t{1} << 37)),
            0x1p37);
  EXPECT_EQ(as_double(MetricId::gpu_numa_node, Reading::of(std::int64_t{-1})), -1);
}

// Rewrites the page when asked to, so that a changed row needs one command.
TEST(MarkdownTest, TheDocumentedMetricsAreThoseOfTheCatalog) {
  const std::string path = std::string(EVERYWATT_SOURCE_DIR) + "/docs/metrics.md";
  if (std::getenv("EVERYWATT_UPDATE_GOLDEN") != nullptr) {
    ASSERT_TRUE(base::write_file_atomically(path, format_markdown(), 0644));
  }
  const auto page = base::read_file(path);
  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(*page == format_markdown())
      << "docs/metrics.md differs: run `everywatt catalog --markdown > docs/metrics.md`";
}

TEST(MarkdownTest, ARowShowsNamesUnitRangeAndBothLanguages) {
  EXPECT_THAT(format_markdown(),
              HasSubstr("| `gpu_fan_speed_ratio` | ratio [4 fan] | gauge | each row | 0 … 2 | "
                        "`DCGM_FI_DEV_FAN_SPEED` 191 × 100, `fan.speed` | Speed that a fan is set "
                        "to, as a share of its fastest.<br>风扇设定转速占最高转速的比例。 | "
                        "Passively cooled GPUs have no fan.<br>被动散热的 GPU 没有风扇。 |\n"));
  EXPECT_THAT(format_markdown(), HasSubstr("`DCGM_FI_DEV_FB_USED` 252 ÷ 1048576"));
}

TEST(NamesTest, EveryEnumeratorHasAName) {
  EXPECT_EQ(unit_name(Unit::kNone), "");
  EXPECT_EQ(unit_name(Unit::kCount), "count");
  EXPECT_EQ(kind_name(Kind::kConst), "const");
  EXPECT_EQ(type_name(Type::kText), "text");
  EXPECT_EQ(scope_name(Scope::kPart), "part");
  EXPECT_EQ(lane_name(Lane::kGauge), "gauge");
  EXPECT_EQ(lane_name(Lane::kHostProcess), "host_process");
  EXPECT_EQ(lane_name(Lane::kSampling), "sampling");
  EXPECT_EQ(state_name(State::kNotRead), "not_read");
  EXPECT_EQ(state_name(State::kNoNewValue), "no_new_data");
  EXPECT_EQ(state_name(State::kFailed), "failed");
}

}  // namespace
}  // namespace everywatt::catalog
