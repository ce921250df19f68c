// SPDX-License-Identifier: Apache-2.0
#include "read/view/reasons.h"

#include <fmt/format.h>

#include <array>

#include "read/view/cause.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::Lang;
using catalog::Metric;
using catalog::MetricId;
using catalog::State;

struct Words {
  std::string_view en;
  std::string_view zh;
  std::string_view in(Lang language) const { return language == Lang::kZh ? zh : en; }
};

constexpr std::array<Words, 8> kStatusWords{{
    {"unused", "未使用"},
    {"ok", "正常"},
    {"lost: gone from the bus", "已丢失：从总线上消失"},
    {"timed out: a driver call does not return", "超时：驱动调用没有返回"},
    {"drained: let go of on request", "已按要求释放"},
    {"removed", "已移除"},
    {"failed: the driver answers with errors", "失败：驱动返回错误"},
    {"suspended: powered down by the kernel", "已挂起：被内核断电"},
}};

// Joins sentences: Chinese ones need no blank between them.
class Text {
 public:
  explicit Text(Lang language) : language_(language) {}
  void add(std::string_view sentence) {
    if (sentence.empty()) return;
    if (!text_.empty() && language_ == Lang::kEn) text_ += ' ';
    text_ += sentence;
  }
  void add(std::string_view en, std::string_view zh) { add(Words{en, zh}.in(language_)); }
  bool is_chinese() const { return language_ == Lang::kZh; }
  std::string take() { return std::move(text_); }

 private:
  Lang language_;
  std::string text_;
};

void add_call(Text& text, const View& view, const Device& device, const ReasonOptions& options) {
  if (device.call == 0 || device.call_since_ns == 0 || device.call_since_ns > view.now_ns()) return;
  const std::string name = options.call_name ? std::string(options.call_name(device.call))
                                             : fmt::format("number {}", device.call);
  const std::string since = duration_text(view.now_ns() - device.call_since_ns, options.language);
  text.add(fmt::format("The driver call {} has been running for {}.", name, since),
           fmt::format("驱动调用 {} 已运行 {}。", name, since));
}

// As part of a sentence of ours.
std::string without_full_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// What the device is, since when, and what was told of it.
void add_status(Text& text, const View& view, const Device& device, Lang language) {
  const std::string status = std::string(status_text(device.status, language));
  const std::string since = duration_text(view.now_ns() - device.status_since_ns, language);
  const std::string cause = without_full_stop(find_cause(view, device));
  text.add(fmt::format("{} is {}, since {} ago{}{}.", device.label(), status, since,
                       cause.empty() ? "" : ": ", cause),
           fmt::format("{}：{}（{}前起）{}{}。", device.label(), status, since,
                       cause.empty() ? "" : "：", cause));
}

// Readings that are missing since the driver answers with errors, or is not there at all.
void add_failure(Text& text, const View& view, const Device& device, Lang language) {
  if (device.status == DeviceStatus::kFailed) add_status(text, view, device, language);
}

// Who writes the lane, and whether that part lives.
void add_writer(Text& text, const View& view, const Handle& handle, Lang language) {
  constexpr std::int64_t kSilentNs = 3'000'000'000;
  const recorder::Part part = view.recorder().ring(handle.ring).writer;
  constexpr Words kParts[] = {{"supervisor", "主管进程"},
                              {"sampler", "采样进程"},
                              {"host process", "主机进程"},
                              {"server", "服务进程"}};
  const auto index = static_cast<std::size_t>(part);
  if (index >= std::size(kParts)) return;
  const recorder::PartSlot& slot = view.recorder().part(part);
  const auto heartbeat_ns =
      static_cast<std::int64_t>(slot.heartbeat_ns.load(std::memory_order_acquire));
  const std::int64_t silent_ns = view.now_ns() - heartbeat_ns;
  if (heartbeat_ns == 0) {
    text.add(fmt::format("The {} has not run yet.", kParts[index].en),
             fmt::format("{}尚未运行。", kParts[index].zh));
  } else if (silent_ns > kSilentNs) {
    const std::string since = duration_text(silent_ns, language);
    text.add(fmt::format("The {} has shown no sign of life for {}.", kParts[index].en, since),
             fmt::format("{}已有 {} 没有活动。", kParts[index].zh, since));
  }
}

void add_missing(Text& text, const View& view, const Device& device, const Metric& metric) {
  text.add(metric.missing_en, metric.missing_zh);
  if (metric.lane != Lane::kGpm) return;
  const auto gpm = view.latest(device.slot, MetricId::gpu_gpm_supported);
  if (gpm.is_ok() && gpm.reading.u64() == 0) {
    text.add(fmt::format("{} has no performance counters for this (GPM); Hopper and newer GPUs do.",
                         device.name.empty() ? device.label() : device.name),
             fmt::format("{} 没有此类性能计数器（GPM）；Hopper 及更新的 GPU 才有。",
                         device.name.empty() ? device.label() : device.name));
  } else if (!gpm.is_ok()) {
    text.add("It needs performance counters (GPM), which Hopper and newer GPUs have.",
             "需要性能计数器（GPM），Hopper 及更新的 GPU 才有。");
  }
}

void add_rejected(Text& text, const View& view, const Device& device) {
  const auto rejected = view.latest(device.slot, MetricId::gpu_rejected_readings_total);
  if (!rejected.is_ok() || rejected.reading.u64() == 0) return;
  const std::uint64_t count = rejected.reading.u64();
  text.add(fmt::format("{} readings of this GPU were rejected so far.", count),
           fmt::format("该 GPU 至今有 {} 个读数被拒绝。", count));
}

void add_last(Text& text, const View& view, const Handle& handle, const Latest& latest,
              Lang language) {
  if (latest.time_ns == 0) return;
  const std::string age = duration_text(latest.age_ns, language);
  const std::int64_t period_ns = view.period_ns(handle);
  if (period_ns == 0) {
    text.add(fmt::format("Its last row is {} old.", age), fmt::format("最近一行在 {}前。", age));
    return;
  }
  const std::string period = duration_text(period_ns, language);
  text.add(fmt::format("Its last row is {} old; one comes each {}.", age, period),
           fmt::format("最近一行在 {}前；每 {}一行。", age, period));
}

void add_state(Text& text, const View& view, const Device& device, const Handle& handle,
               const Latest& latest, Lang language) {
  const Metric& metric = catalog::metric(handle.id);
  text.add(catalog::state_sentence(latest.reading.state, language));
  if (latest.reading.state == State::kNotSupported) add_missing(text, view, device, metric);
  if (latest.reading.state == State::kInvalid) add_rejected(text, view, device);
  add_last(text, view, handle, latest, language);
}

}  // namespace

Reason why(const View& view, const Device& device, MetricId id, const ReasonOptions& options) {
  const Handle handle = view.handle(device.slot, id, options.instance);
  const Metric& metric = catalog::metric(id);
  const Lang language = options.language;
  Reason reason{.latest = view.latest(handle), .text = {}};
  const Latest& latest = reason.latest;
  Text text(language);
  switch (latest.absence) {
    case Absence::kPresent: {
      const std::string age = duration_text(latest.age_ns, language);
      text.add(fmt::format("It has a value, read {} ago.", age),
               fmt::format("有数值，{}前读取。", age));
      break;
    }
    case Absence::kNoRing:
      text.add(
          device.is_mig()
              ? Words{"MIG instances have no such reading.", "MIG 实例没有此项读数。"}.in(language)
              : Words{"Nothing of this kind is recorded for this device here.",
                      "此处没有为该设备记录此类读数。"}
                    .in(language));
      add_missing(text, view, device, metric);
      break;
    case Absence::kDevice:
      add_status(text, view, device, language);
      add_call(text, view, device, options);
      break;
    case Absence::kNoRows:
      text.add("Nothing was recorded of it yet.", "尚未记录过此项。");
      add_writer(text, view, handle, language);
      add_failure(text, view, device, language);
      break;
    case Absence::kStale:
      text.add("It is stale: nothing new came for three periods.",
               "数据已过期：三个周期内没有新数据。");
      add_last(text, view, handle, latest, language);
      add_writer(text, view, handle, language);
      add_failure(text, view, device, language);
      add_call(text, view, device, options);
      break;
    case Absence::kState:
      add_state(text, view, device, handle, latest, language);
      break;
  }
  reason.text = text.take();
  return reason;
}

std::string_view status_text(DeviceStatus status, catalog::Lang language) {
  const auto index = static_cast<std::size_t>(status);
  return index < kStatusWords.size() ? kStatusWords[index].in(language)
                                     : Words{"unknown", "未知"}.in(language);
}

std::string duration_text(std::int64_t duration_ns, catalog::Lang language) {
  const bool zh = language == catalog::Lang::kZh;
  const double seconds = static_cast<double>(duration_ns) / 1e9;
  if (seconds < 0.9995) return fmt::format("{:.0f} {}", seconds * 1e3, zh ? "毫秒" : "ms");
  if (seconds < 120) return fmt::format("{:.1f} {}", seconds, zh ? "秒" : "s");
  if (seconds < 7200) return fmt::format("{:.0f} {}", seconds / 60, zh ? "分钟" : "min");
  return fmt::format("{:.1f} {}", seconds / 3600, zh ? "小时" : "h");
}

}  // namespace everywatt::view
