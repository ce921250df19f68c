// SPDX-License-Identifier: Apache-2.0
#include "serve/web/metrics_query.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "read/view/device.h"
#include "serve/web/accept.h"

namespace everywatt::web {
namespace {

constexpr std::size_t kMostMetrics = 200;
constexpr std::size_t kLongestMetric = 100;

bool is_pattern(std::string_view text) {
  if (text.ends_with('*')) text.remove_suffix(1);
  return text.size() <= kLongestMetric && std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

base::Status add_names(std::string_view text, exporter::NameSets& names) {
  const auto parsed = exporter::parse_names(text);
  if (!parsed) return std::unexpected(parsed.error());
  names = static_cast<exporter::NameSets>(names | *parsed);
  return {};
}

base::Status add_patterns(std::string_view text, std::vector<std::string>& patterns) {
  for (const std::string_view word : base::split(text, ',')) {
    const std::string_view pattern = base::trim(word);
    if (pattern.empty() || !is_pattern(pattern) || patterns.size() == kMostMetrics) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("parameter 'metric': '{}' is no metric's name, nor the "
                                    "beginning of one and '*'; at most {}, between commas",
                                    base::clean_text(pattern, 40), kMostMetrics));
    }
    patterns.emplace_back(pattern);
  }
  return {};
}

base::Status add_gpus(std::string_view text, const view::View* view,
                      std::vector<std::uint32_t>& slots) {
  if (view == nullptr) return {};
  const std::vector<view::Device> gpus = view::present_gpus(*view);
  for (const std::string_view word : base::split(text, ',')) {
    const auto gpu = view::find_gpu(gpus, base::trim(word));
    if (!gpu) return std::unexpected(gpu.error());
    if (std::ranges::find(slots, gpu->slot) == slots.end()) slots.push_back(gpu->slot);
  }
  return {};
}

// None of them there is not the same as none asked for.
void add_default_gpus(const std::vector<std::string>& gpus, const view::View* view,
                      std::vector<std::uint32_t>& slots) {
  constexpr std::uint32_t kNoSlot = 0xffff'ffff;
  for (const std::string& gpu : gpus) {
    static_cast<void>(add_gpus(gpu, view, slots));
  }
  if (!gpus.empty() && slots.empty()) slots.push_back(kNoSlot);
}

}  // namespace

std::string MetricsQuery::key() const {
  return fmt::format("metrics {} {} {} {}", static_cast<int>(format), wish.names,
                     fmt::join(wish.gpus, ","), fmt::join(metrics, ","));
}

// A list in a scraper's configuration comes as one parameter an entry.
base::Result<MetricsQuery> parse_metrics_query(const Target& target, std::string_view accept,
                                               const MetricsDefaults& defaults,
                                               const view::View* view) {
  MetricsQuery query{.wish = {.names = 0}, .metrics = {}, .format = format_for(accept)};
  for (const Parameter& parameter : target.parameters) {
    base::Status status;
    if (parameter.name == "names") {
      status = add_names(parameter.value, query.wish.names);
    } else if (parameter.name == "gpu") {
      status = add_gpus(parameter.value, view, query.wish.gpus);
    } else if (parameter.name == "metric") {
      status = add_patterns(parameter.value, query.metrics);
    } else {
      status = base::fail(base::Code::kInvalidArgument,
                          fmt::format("no parameter '{}': there are names, gpu, metric",
                                      base::clean_text(parameter.name, 40)));
    }
    if (!status) return std::unexpected(status.error());
  }
  if (query.wish.names == 0) query.wish.names = defaults.names;
  if (query.wish.gpus.empty()) add_default_gpus(defaults.gpus, view, query.wish.gpus);
  return query;
}

}  // namespace everywatt::web
