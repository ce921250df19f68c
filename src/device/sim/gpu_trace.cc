// SPDX-License-Identifier: Apache-2.0
#include "device/sim/gpu_trace.h"

#include <unistd.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "base/text.h"
#include "device/sim/return_names.h"
#include "device/trace/csv.h"

namespace everywatt::sim {
namespace {

// The lists are taken once a second; one that is half a second late is the next one nevertheless.
constexpr std::int64_t kListingPeriod = 1'000'000'000;
constexpr std::int64_t kLatestListing = 1'500'000'000;
// Longer traces than this do not fit the 32-bit microseconds in which times are kept.
constexpr double kMaxMs = 3'600'000;

base::Result<std::uint32_t> parse_time_us(const trace::Csv& csv, std::size_t row,
                                          std::size_t column) {
  const std::optional<double> ms = base::parse_f64(csv.cell(row, column));
  if (!ms || *ms < 0 || *ms > kMaxMs) return csv.fail_at(row, "t_ms is not a time within an hour");
  return static_cast<std::uint32_t>(std::lround(*ms * 1000));
}

// A whole number, decimal or as 0x...
std::optional<std::int64_t> parse_number(std::string_view text) {
  if (!text.starts_with("0x")) return base::parse_i64(text);
  const std::optional<std::uint64_t> bits = parse_hex(text.substr(2));
  if (!bits) return std::nullopt;
  return static_cast<std::int64_t>(*bits);
}

base::Result<std::vector<std::size_t>> find_columns(const trace::Csv& csv,
                                                    std::span<const std::string_view> names) {
  std::vector<std::size_t> found;
  for (const std::string_view name : names) {
    const base::Result<std::size_t> column = csv.column(name);
    if (!column) return std::unexpected(column.error());
    found.push_back(*column);
  }
  return found;
}

base::Status read_gpm_row(const trace::Csv& csv, std::size_t row, std::uint32_t at_us,
                          std::span<const std::size_t> columns, std::vector<GpmRefresh>& gpm) {
  if (csv.cell(row, columns[kGpmDram]) == "nan") return {};  // the counters did not move
  GpmRefresh refresh{.at_us = at_us};
  for (std::size_t i = 0; i < kGpmColumns; ++i) {
    const std::optional<double> value = base::parse_f64(csv.cell(row, columns[i]));
    if (!value) return csv.fail_at(row, std::string(kGpmColumnNames[i]) + " is not a number");
    refresh.means[i] = static_cast<float>(*value);
  }
  gpm.push_back(refresh);
  return {};
}

base::Status read_gauges(const std::string& path, GpuTrace& trace) {
  const base::Result<trace::Csv> csv = trace::Csv::read(path);
  if (!csv) return std::unexpected(csv.error());
  const base::Result<std::size_t> time = csv->column("t_ms");
  if (!time) return std::unexpected(time.error());
  const auto columns = find_columns(*csv, std::span(kColumnNames).first(kTraceColumns));
  if (!columns) return std::unexpected(columns.error());
  const auto gpm_columns = find_columns(*csv, kGpmColumnNames);
  if (!gpm_columns) return std::unexpected(gpm_columns.error());
  if (csv->rows() == 0) return csv->fail_at(0, "no rows");

  std::uint32_t last_us = 0;
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    const base::Result<std::uint32_t> at_us = parse_time_us(*csv, row, *time);
    if (!at_us) return std::unexpected(at_us.error());
    if (*at_us < last_us) return csv->fail_at(row, "t_ms falls");
    last_us = *at_us;
    for (std::size_t i = 0; i < kTraceColumns; ++i) {
      const std::optional<std::int64_t> value = parse_number(csv->cell(row, (*columns)[i]));
      if (!value) return csv->fail_at(row, std::string(kColumnNames[i]) + " is not a number");
      trace.columns[i].append(*at_us, *value);
    }
    if (auto read = read_gpm_row(*csv, row, *at_us, *gpm_columns, trace.gpm); !read) return read;
  }
  trace.last_ns = last_us * std::int64_t{1000};
  for (Steps& column : trace.columns)
    column.finish();
  trace.gpm.shrink_to_fit();
  return {};
}

constexpr std::array<std::string_view, 7> kProcessColumns = {
    "t_ms", "pid", "used_mem_b", "sm_util", "mem_util", "enc_util", "dec_util"};

// When a list ends: at the next one, or a second later, and before that when the GPU's memory falls
// below half of what one of its processes held: that process has ended.
void end_listings(GpuTrace& trace) {
  const Steps& used = trace.columns[index_of(Column::kFbUsed)];
  for (std::size_t i = 0; i < trace.listings.size(); ++i) {
    ProcessListing& listing = trace.listings[i];
    listing.end_ns = listing.at_ns + kListingPeriod;
    if (i + 1 < trace.listings.size() &&
        trace.listings[i + 1].at_ns <= listing.at_ns + kLatestListing) {
      listing.end_ns = trace.listings[i + 1].at_ns;
    }
    std::uint64_t largest = 0;
    for (const ListedProcess& process : listing.processes) {
      largest = std::max(largest, process.memory_bytes);
    }
    for (std::size_t change = used.changes_until(listing.at_ns); change < used.size(); ++change) {
      if (used.time_ns(change) >= listing.end_ns) break;
      if (static_cast<std::uint64_t>(used.value(change)) < largest / 2) {
        listing.end_ns = used.time_ns(change);
      }
    }
  }
}

base::Status read_processes(const std::string& path, GpuTrace& trace) {
  if (access(path.c_str(), F_OK) != 0) return {};  // a GPU that nobody used
  const base::Result<trace::Csv> csv = trace::Csv::read(path);
  if (!csv) return std::unexpected(csv.error());
  const auto columns = find_columns(*csv, kProcessColumns);
  if (!columns) return std::unexpected(columns.error());
  std::map<std::int64_t, std::uint32_t> ordinals;
  for (std::size_t row = 0; row < csv->rows(); ++row) {
    const base::Result<std::uint32_t> at_us = parse_time_us(*csv, row, (*columns)[0]);
    if (!at_us) return std::unexpected(at_us.error());
    std::array<std::int64_t, kProcessColumns.size()> numbers{};
    for (std::size_t i = 1; i < kProcessColumns.size(); ++i) {
      const std::optional<std::int64_t> value = base::parse_i64(csv->cell(row, (*columns)[i]));
      if (!value || (i <= 2 && *value < 0) || *value < -1) {
        return csv->fail_at(row,
                            std::string(kProcessColumns[i]) + " is not a number that it can be");
      }
      numbers[i] = *value;
    }
    const std::int64_t at_ns = *at_us * std::int64_t{1000};
    if (trace.listings.empty() || trace.listings.back().at_ns != at_ns) {
      if (!trace.listings.empty() && trace.listings.back().at_ns > at_ns) {
        return csv->fail_at(row, "t_ms falls");
      }
      trace.listings.push_back({.at_ns = at_ns, .end_ns = 0, .processes = {}});
    }
    const auto ordinal = static_cast<std::uint32_t>(ordinals.size());
    trace.listings.back().processes.push_back(
        {.ordinal = ordinals.try_emplace(numbers[1], ordinal).first->second,
         .memory_bytes = static_cast<std::uint64_t>(numbers[2]),
         .sm_percent = static_cast<std::int32_t>(numbers[3]),
         .memory_percent = static_cast<std::int32_t>(numbers[4]),
         .encoder_percent = static_cast<std::int32_t>(numbers[5]),
         .decoder_percent = static_cast<std::int32_t>(numbers[6])});
  }
  end_listings(trace);
  return {};
}

}  // namespace

const ProcessListing* GpuTrace::listing_at(std::int64_t trace_ns) const {
  const auto after = std::partition_point(
      listings.begin(), listings.end(),
      [trace_ns](const ProcessListing& listing) { return listing.at_ns <= trace_ns; });
  if (after == listings.begin()) return nullptr;
  const ProcessListing& listing = *(after - 1);
  return trace_ns < listing.end_ns ? &listing : nullptr;
}

base::Result<GpuTrace> read_gpu_trace(const std::string& stem) {
  GpuTrace trace;
  if (auto read = read_gauges(stem + ".gpu.csv.gz", trace); !read) {
    return std::unexpected(read.error());
  }
  if (auto read = read_processes(stem + ".processes.csv.gz", trace); !read) {
    return std::unexpected(read.error());
  }
  return trace;
}

double gpm_value(float stored) {
  return std::round(static_cast<double>(stored) * 100) / 100;
}

}  // namespace everywatt::sim
