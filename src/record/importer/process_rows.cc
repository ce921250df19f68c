// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "record/importer/numbers.h"
#include "record/importer/trace_rows.h"

namespace everywatt::importer {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

constexpr std::int64_t kListNs = 1'000'000'000;
// The lists are taken once a second; one that is half a second late is the next one nevertheless.
constexpr std::int64_t kLatestListNs = 1'500'000'000;

enum Column : std::size_t { kTime, kPid, kMemory, kSm, kMemoryRw, kEncoder, kDecoder };

Row make_empty(std::int64_t time_ns) {
  Row row(Scope::kGpu, Lane::kProcess);
  row.time_ns = time_ns;
  row.set(MetricId::process_index, std::uint64_t{0});
  row.set(MetricId::process_count, std::uint64_t{0});
  return row;
}

class ProcessRows {
 public:
  ProcessRows(const Numbers& numbers, std::string name, const Place& place, TraceRows& rows)
      : numbers_(numbers), name_(std::move(name)), place_(place), rows_(rows) {}

  void add_all() {
    // The second's phase is that of the lists that there are.
    std::int64_t next_ns = numbers_.time_ns(0) % kListNs;
    for (std::size_t row = 0; row < numbers_.rows();) {
      const std::int64_t time_ns = numbers_.time_ns(row);
      add_empty_until(next_ns, time_ns - kListNs / 2);
      std::size_t end = row;
      while (end < numbers_.rows() && numbers_.time_ns(end) == time_ns) {
        ++end;
      }
      add_list(row, end);
      row = end;
      next_ns = time_ns + kListNs;
    }
    const std::int64_t end_ns = rows_.end_ns - place_.start_ns;
    add_empty_until(next_ns, end_ns);
    // The recording ended first: nothing is known of these.
    if (last_list_ns_ + kLatestListNs <= end_ns) end_those_missing({}, last_list_ns_ + kListNs);
  }

 private:
  void add_empty_until(std::int64_t& next_ns, std::int64_t end_ns) {
    for (; next_ns <= end_ns; next_ns += kListNs) {
      end_those_missing({}, next_ns);
      rows_.process.push_back(make_empty(place_.start_ns + next_ns));
      last_list_ns_ = next_ns;
    }
  }

  void add_list(std::size_t begin, std::size_t end) {
    const std::int64_t time_ns = numbers_.time_ns(begin);
    std::vector<std::uint64_t> pids;
    for (std::size_t row = begin; row < end; ++row) {
      add_row(row, row - begin, end - begin);
      pids.push_back(numbers_.whole(row, kPid));
      start_if_new(pids.back(), time_ns);
    }
    end_those_missing(pids, time_ns);
    last_list_ns_ = time_ns;
  }

  void add_row(std::size_t row, std::size_t index, std::size_t count) {
    Row out(Scope::kGpu, Lane::kProcess);
    out.time_ns = place_.start_ns + numbers_.time_ns(row);
    const std::uint64_t pid = numbers_.whole(row, kPid);
    out.set(MetricId::process_index, std::uint64_t{index});
    out.set(MetricId::process_count, std::uint64_t{count});
    out.set(MetricId::process_pid, pid);
    out.set(MetricId::process_identity, identity_key(name_, pid));
    out.set(MetricId::process_type_mask, std::uint64_t{1});
    out.set(MetricId::process_memory_bytes, numbers_.whole(row, kMemory));
    bool has_sample = false;
    for (const auto& [column, id] : {std::pair{kSm, MetricId::process_sm_ratio},
                                     {kMemoryRw, MetricId::process_memory_controller_ratio},
                                     {kEncoder, MetricId::process_encoder_ratio},
                                     {kDecoder, MetricId::process_decoder_ratio}}) {
      // -1: the driver had no sample.
      const double percent = numbers_.at(row, column);
      if (percent < 0) continue;
      has_sample = true;
      out.set(id, percent / 100);
    }
    if (has_sample) out.set(MetricId::process_sample_time_ns, out.time_ns);
    rows_.process.push_back(std::move(out));
  }

  void start_if_new(std::uint64_t pid, std::int64_t time_ns) {
    if (!running_.emplace(pid, time_ns).second) return;
    rows_.happenings.push_back({.time_ns = place_.start_ns + time_ns,
                                .is_end = false,
                                .pid = pid,
                                .identity = identity_key(name_, pid),
                                .text = {}});
  }

  void end_those_missing(const std::vector<std::uint64_t>& listed, std::int64_t time_ns) {
    for (auto known = running_.begin(); known != running_.end();) {
      const auto [pid, started_ns] = *known;
      if (std::find(listed.begin(), listed.end(), pid) != listed.end()) {
        ++known;
        continue;
      }
      rows_.happenings.push_back(
          {.time_ns = place_.start_ns + time_ns,
           .is_end = true,
           .pid = pid,
           .identity = identity_key(name_, pid),
           .text = fmt::format("after {} s on the GPU", (time_ns - started_ns) / kListNs)});
      known = running_.erase(known);
    }
  }

  const Numbers& numbers_;
  std::string name_;
  const Place& place_;
  TraceRows& rows_;
  std::map<std::uint64_t, std::int64_t> running_;  // pid -> first seen, of the trace's time
  std::int64_t last_list_ns_ = 0;
};

}  // namespace

base::Status add_process_rows(const std::string& stem, const Place& place, TraceRows& rows) {
  const std::string path = stem + ".processes.csv.gz";
  if (::access(path.c_str(), F_OK) != 0) {  // a GPU that nobody used
    for (std::int64_t time_ns = place.start_ns; time_ns <= rows.end_ns; time_ns += kListNs) {
      rows.process.push_back(make_empty(time_ns));
    }
    return {};
  }
  const auto numbers = Numbers::read(
      path, {"t_ms", "pid", "used_mem_b", "sm_util", "mem_util", "enc_util", "dec_util"},
      {.pids = "pid", .negative = {"sm_util", "mem_util", "enc_util", "dec_util"}});
  if (!numbers) return std::unexpected(numbers.error());
  ProcessRows(*numbers, trace_name(stem), place, rows).add_all();
  return {};
}

}  // namespace everywatt::importer
