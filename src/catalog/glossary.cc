// SPDX-License-Identifier: Apache-2.0
#include "catalog/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.h"
#include "catalog/bands.h"

namespace everywatt::catalog {
namespace {

struct StateText {
  std::string_view word_en, word_zh, sentence_en, sentence_zh;
};
// In the order of State.
constexpr std::array kStateTexts{
    StateText{"not read", "未读取", "It was not due to be read.", "尚未到读取时间。"},
    StateText{"ok", "正常", "There is a reading.", "有读数。"},
    StateText{"no new data", "无新数据", "The source has given nothing new since the last reading.",
              "数据源自上次读数以来没有更新。"},
    StateText{"not supported", "不支持", "This GPU, driver or kernel does not offer it.",
              "此 GPU、驱动或内核不提供。"},
    StateText{"no permission", "无权限", "Everywatt has not the right to read it.",
              "Everywatt 没有读取它的权限。"},
    StateText{"lost", "丢失", "The GPU is gone from the bus.", "GPU 已从总线上消失。"},
    StateText{"timed out", "超时", "A call into the driver has not returned in time.",
              "对驱动的调用没有按时返回。"},
    StateText{"drained", "已让出", "Everywatt was asked to let go of the driver.",
              "已按要求让出驱动。"},
    StateText{"invalid", "无效", "The source gave a blank or an impossible value.",
              "数据源给出了空值或不可能的值。"},
    StateText{"failed", "失败", "The source answered with an error.", "数据源返回了错误。"},
};
static_assert(kStateTexts.size() == kStateCount);

constexpr std::array kReasons{
    ClockEventReason{0, "gpu_idle", "gpu_idle", "idle", "空闲"},
    ClockEventReason{1, "applications_clocks_setting", "clocks_setting",
                     "clocks set by the administrator", "管理员设定时钟"},
    ClockEventReason{2, "sw_power_cap", "power_cap", "power cap", "功耗上限"},
    ClockEventReason{3, "hw_slowdown", "hw_slowdown", "hardware slowdown", "硬件降频"},
    ClockEventReason{4, "sync_boost", "sync_boost", "sync boost", "同步加速"},
    ClockEventReason{5, "sw_thermal_slowdown", "sw_thermal", "software thermal slowdown",
                     "软件温度降频"},
    ClockEventReason{6, "hw_thermal_slowdown", "hw_thermal", "hardware thermal slowdown",
                     "硬件温度降频"},
    ClockEventReason{7, "hw_power_brake_slowdown", "hw_power_brake",
                     "power brake from the power supply", "电源制动降频"},
    ClockEventReason{8, "display_clock_setting", "display_clocks", "clocks set for the display",
                     "显示设定时钟"},
};

// Idle and what somebody chose are no loss.
constexpr std::uint64_t kHarmlessMask = 1u << 0 | 1u << 1 | 1u << 8;

const ClockEventReason* find_reason(unsigned bit) {
  const auto found = std::ranges::find(kReasons, bit, &ClockEventReason::bit);
  return found == kReasons.end() ? nullptr : &*found;
}

template <typename Function>
void for_each_bit(std::uint64_t mask, Function&& function) {
  for (; mask != 0; mask &= mask - 1)
    function(static_cast<unsigned>(std::countr_zero(mask)));
}

// NVML's memory locations, in its order.
constexpr std::array<std::string_view, 8> kEccLocations{
    "l1_cache", "l2_cache", "dram", "register_file", "texture", "texture_shared", "cbu", "sram"};

}  // namespace

std::string_view state_word(State state, Lang lang) {
  const auto index = static_cast<std::size_t>(state);
  CHECK(index < kStateCount);
  return lang == Lang::kZh ? kStateTexts[index].word_zh : kStateTexts[index].word_en;
}

std::string_view state_sentence(State state, Lang lang) {
  const auto index = static_cast<std::size_t>(state);
  CHECK(index < kStateCount);
  return lang == Lang::kZh ? kStateTexts[index].sentence_zh : kStateTexts[index].sentence_en;
}

std::span<const ClockEventReason> clock_event_reasons() {
  return kReasons;
}

std::string clock_event_slug(unsigned bit) {
  const ClockEventReason* reason = find_reason(bit);
  return reason != nullptr ? std::string(reason->slug) : fmt::format("unknown_bit_{}", bit);
}

std::string clock_event_text(unsigned bit, Lang lang) {
  const ClockEventReason* reason = find_reason(bit);
  if (reason != nullptr) return std::string(lang == Lang::kZh ? reason->zh : reason->en);
  return lang == Lang::kZh ? fmt::format("未知位 {}", bit) : fmt::format("unknown bit {}", bit);
}

std::vector<std::string> clock_event_slugs(std::uint64_t mask) {
  std::vector<std::string> slugs;
  for_each_bit(mask, [&](unsigned bit) { slugs.push_back(clock_event_slug(bit)); });
  return slugs;
}

std::string format_clock_events(std::uint64_t mask, Lang lang) {
  if (mask == 0) return lang == Lang::kZh ? "无" : "none";
  std::string text;
  for_each_bit(mask, [&](unsigned bit) {
    if (!text.empty()) text += lang == Lang::kZh ? "、" : ", ";
    text += clock_event_text(bit, lang);
  });
  return text;
}

bool is_throttling(std::uint64_t mask) {
  return (mask & ~kHarmlessMask) != 0;
}

unsigned clock_event_instance(unsigned bit) {
  const unsigned last = metric(MetricId::gpu_clock_event_seconds_total).instances - 1u;
  return std::min(bit, last);
}

std::span<const double> histogram_bounds(MetricId id) {
  if (metric(id).instance_label != "le") return {};
  if (id == MetricId::gpu_power_sampled_watts_bucket) return kPowerBands;
  return kRatioBands;
}

std::string instance_name(MetricId id, unsigned instance) {
  const Metric& row = metric(id);
  CHECK(instance < row.instances);
  if (row.instance_label == "lane") return std::string(lane_name(static_cast<Lane>(instance)));
  if (row.instance_label == "location") return std::string(kEccLocations[instance]);
  if (row.instance_label == "le") {
    const std::span<const double> bounds = histogram_bounds(id);
    return instance < bounds.size() ? fmt::format("{}", bounds[instance]) : "+Inf";
  }
  if (row.instance_label == "reason") {
    return instance + 1u == row.instances ? "other" : clock_event_slug(instance);
  }
  return std::to_string(instance);
}

}  // namespace everywatt::catalog
