// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <expected>
#include <iterator>
#include <optional>

#include "base/text.h"

namespace everywatt::exporter {
namespace {

using catalog::Metric;
using catalog::MetricId;
using catalog::Scope;
using catalog::Type;

constexpr std::size_t kShownBytes = 60;

// What DCGM's exporter exposes when nobody chooses, as far as a GPU without a licence has it.
constexpr std::array<std::string_view, 24> kDefault{
    "DCGM_FI_DEV_SM_CLOCK",
    "DCGM_FI_DEV_MEM_CLOCK",
    "DCGM_FI_DEV_MEMORY_TEMP",
    "DCGM_FI_DEV_GPU_TEMP",
    "DCGM_FI_DEV_POWER_USAGE",
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
    "DCGM_FI_DEV_GPU_UTIL",
    "DCGM_FI_DEV_MEM_COPY_UTIL",
    "DCGM_FI_DEV_ENC_UTIL",
    "DCGM_FI_DEV_DEC_UTIL",
    "DCGM_FI_DEV_XID_ERRORS",
    "DCGM_FI_DEV_FB_FREE",
    "DCGM_FI_DEV_FB_USED",
    "DCGM_FI_DEV_FB_RESERVED",
    "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE",
    "DCGM_FI_PROF_DRAM_ACTIVE",
    "DCGM_FI_PROF_PCIE_TX_BYTES",
    "DCGM_FI_PROF_PCIE_RX_BYTES",
};

struct ComputedName {
  std::string_view name;
  Computed computed;
  MetricId metric;
};

constexpr std::array<ComputedName, 2> kComputed{{
    {"DCGM_EXP_CLOCK_EVENTS_COUNT", Computed::kClockEvents,
     MetricId::gpu_clock_event_seconds_total},
    {"DCGM_EXP_XID_ERRORS_COUNT", Computed::kXids, MetricId::gpu_last_xid},
}};

struct Record {
  std::string name;
  std::string type;
  std::string help;
};

// What DCGM's exporter has as numbers: constants that only identify are labels there, if anything.
bool is_number(const Metric& metric) {
  const bool identifies =
      metric.lane == catalog::Lane::kOnce && metric.unit == catalog::Unit::kNone;
  return metric.type != Type::kText && !identifies;
}

bool is_of_dcgm(const Metric& metric) {
  return !metric.dcgm.empty() && metric.scope == Scope::kGpu;
}

// DCGM's one number is of all links, where ours tells each.
std::string help_text(const Metric& metric) {
  std::string help(metric.en);
  if (metric.instances == 1) return help;
  if (help.ends_with('.')) help.pop_back();
  return fmt::format("{}: {} of all {}s.", help,
                     metric.kind == catalog::Kind::kCounter ? "the sum" : "the highest",
                     metric.instance_label);
}

// The field behind a quote and up to the one that ends it; two of them are one. Takes both off
// `line`. Nothing: it does not end.
std::optional<std::string> take_quoted(std::string_view& line) {
  std::string field;
  while (true) {
    line.remove_prefix(1);
    const std::size_t quote = line.find('"');
    if (quote == std::string_view::npos) return std::nullopt;
    field += line.substr(0, quote);
    line.remove_prefix(quote + 1);
    if (!line.starts_with('"')) return field;
    field += '"';
  }
}

// The fields of a line of CSV, without the blanks around them. Nothing: a quote does not end.
std::optional<std::vector<std::string>> split_csv(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    line = base::trim(line);
    if (line.starts_with('"')) {
      auto field = take_quoted(line);
      line = base::trim(line);
      if (!field || (!line.empty() && !line.starts_with(','))) return std::nullopt;
      fields.push_back(*std::move(field));
    } else {
      fields.emplace_back(base::trim(line.substr(0, line.find(','))));
      line.remove_prefix(std::min(line.find(','), line.size()));
    }
    if (line.empty()) return fields;
    line.remove_prefix(1);
  }
}

std::expected<Record, std::string> parse_record(std::string_view line) {
  const auto fields = split_csv(line);
  if (!fields) return std::unexpected("a quote that does not end");
  if (fields->size() != 3) {
    return std::unexpected(
        fmt::format("{} fields instead of three: name, type, help; a help with "
                    "commas stands in quotes",
                    fields->size()));
  }
  return Record{(*fields)[0], base::to_lower((*fields)[1]), (*fields)[2]};
}

std::optional<MetricId> find_field(std::string_view name) {
  for (std::size_t i = 0; i < catalog::metrics().size(); ++i) {
    const Metric& metric = catalog::metrics()[i];
    if (!name.empty() && is_of_dcgm(metric) && (metric.dcgm == name || metric.dcgm_alias == name)) {
      return static_cast<MetricId>(i);
    }
  }
  return std::nullopt;
}

std::optional<std::string> add_computed(const Record& record, const ComputedName& found,
                                        Counters& counters) {
  if (record.type == "label") return fmt::format("'{}' cannot be a label", found.name);
  if (std::ranges::find(counters.families, found.computed, &Counter::computed) !=
      counters.families.end()) {
    return fmt::format("'{}' was there before", found.name);
  }
  counters.families.push_back({.metric = found.metric,
                               .computed = found.computed,
                               .name = record.name,
                               .type = "gauge",
                               .help = record.help});
  return std::nullopt;
}

// Nothing: it was added. Else why not.
std::optional<std::string> add(const Record& record, Counters& counters) {
  if (const auto* found = std::ranges::find(kComputed, record.name, &ComputedName::name);
      found != kComputed.end()) {
    return add_computed(record, *found, counters);
  }
  const std::optional<MetricId> id = find_field(record.name);
  const std::string shown = base::clean_text(record.name, kShownBytes);
  if (!id) return fmt::format("no field '{}' is recorded", shown);
  const auto is_read = [&](const Counter& other) {
    return other.metric == *id && other.computed == Computed::kNo;
  };
  if (std::ranges::any_of(counters.families, is_read) ||
      std::ranges::find(counters.labels, *id, &ConstantLabel::metric) != counters.labels.end()) {
    return fmt::format("'{}' was there before", shown);
  }
  if (record.type == "label") {
    counters.labels.push_back({*id, record.name});
    return std::nullopt;
  }
  if (record.type != "gauge" && record.type != "counter") {
    return fmt::format("type '{}' is not gauge, counter or label",
                       base::clean_text(record.type, kShownBytes));
  }
  if (!is_number(catalog::metric(*id))) return fmt::format("'{}' can only be a label", shown);
  counters.families.push_back({.metric = *id,
                               .computed = Computed::kNo,
                               .name = record.name,
                               .type = record.type,
                               .help = record.help});
  return std::nullopt;
}

}  // namespace

Counters default_counters() {
  const Counters all = all_counters();
  Counters counters{.families = {}, .labels = all.labels};
  std::ranges::copy_if(all.families, std::back_inserter(counters.families), [](const Counter& one) {
    return std::ranges::find(kDefault, one.name) != kDefault.end();
  });
  return counters;
}

Counters all_counters() {
  Counters counters;
  for (std::size_t i = 0; i < catalog::metrics().size(); ++i) {
    const Metric& metric = catalog::metrics()[i];
    if (!is_of_dcgm(metric) || !is_number(metric)) continue;
    counters.families.push_back(
        {.metric = static_cast<MetricId>(i),
         .computed = Computed::kNo,
         .name = std::string(metric.dcgm),
         .type = metric.kind == catalog::Kind::kCounter ? "counter" : "gauge",
         .help = help_text(metric)});
  }
  counters.labels.push_back({MetricId::gpu_driver_version, "DCGM_FI_DRIVER_VERSION"});
  return counters;
}

CountersReading parse_counters(std::string_view text) {
  CountersReading reading;
  std::size_t number = 0;
  for (std::string_view line : base::split(text, '\n')) {
    ++number;
    line = base::trim(line);
    if (line.empty() || line.starts_with('#')) continue;
    const auto record = parse_record(line);
    const std::optional<std::string> why =
        record ? add(*record, reading.counters) : std::optional(record.error());
    if (why) reading.skipped.push_back(fmt::format("line {}: {}", number, *why));
  }
  return reading;
}

}  // namespace everywatt::exporter
