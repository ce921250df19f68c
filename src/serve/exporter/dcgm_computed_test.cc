// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "catalog/event.h"
#include "serve/exporter/exporter_fixture.h"

namespace everywatt::exporter {
namespace {

using catalog::EventKind;
using catalog::EventSource;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

constexpr std::string_view kBoth =
    "DCGM_EXP_CLOCK_EVENTS_COUNT, counter, Clock events\n"
    "DCGM_EXP_XID_ERRORS_COUNT, counter, XIDs\n";

std::string encode_dcgm(const view::Machine& machine, std::string_view counters,
                        Windows windows = {}) {
  Encoder encoder(
      {.hostname = "n", .counters = parse_counters(counters).counters, .windows = windows});
  std::string text;
  Exposition out(text);
  encoder.encode(*machine.view(kNow), {.names = static_cast<NameSets>(Names::kDcgm)}, out);
  out.end();
  return text;
}

// The number behind the one sample that has this label, or "" without one.
std::string value_of(const std::string& text, const std::string& label) {
  const std::size_t at = text.find(label);
  if (at == text.npos) return {};
  const std::size_t value = text.find("} ", at) + 2;
  return text.substr(value, text.find('\n', value) - value);
}

void add_seconds(view::Machine& machine, std::int64_t time_ns, double power_cap, double idle) {
  machine.add_gpu(0, Lane::kTotals, time_ns, [&](Row& row) {
    row.set(MetricId::gpu_clock_event_seconds_total, power_cap, 2);
    row.set(MetricId::gpu_clock_event_seconds_total, idle, 0);
  });
}

void add_xid(view::Machine& machine, std::int64_t time_ns, std::uint64_t code, EventSource source) {
  machine.add(machine.file().slots(Scope::kPart)[1], Scope::kPart, Lane::kEvent, time_ns,
              [&](Row& row) {
                row.set(MetricId::event_kind, static_cast<std::uint64_t>(EventKind::kXid));
                row.set(MetricId::event_code, code);
                row.set(MetricId::event_device, std::uint64_t{machine.gpu(0)});
                row.set(MetricId::event_source, static_cast<std::uint64_t>(source));
              });
}

void name(view::Machine& machine) {
  machine.name_gpu(0, kSecond, "GPU-00000000", "00000000:06:00.0");
}

TEST(DcgmComputed, ClockEventsAreTheReadingsWithTheReasonInTheWindow) {
  view::Machine machine({.gpus = 1});
  name(machine);
  add_seconds(machine, 600 * kSecond, 100, 7);
  add_seconds(machine, 699 * kSecond, 110, 7);
  add_seconds(machine, 999 * kSecond, 112.5, 7);
  const std::string text = encode_dcgm(machine, kBoth);
  // 2.5 s of readings every 0.1 s since 700.05 s.
  EXPECT_EQ(value_of(text, "clock_event=\"power_cap\",window_size_in_ms=\"300000\""), "25");
  EXPECT_EQ(value_of(text, "clock_event=\"gpu_idle\""), "0");
  EXPECT_NE(text.find("# TYPE DCGM_EXP_CLOCK_EVENTS_COUNT gauge\n"), text.npos);
}

TEST(DcgmComputed, ClockEventsOfAGpuThatCameInTheWindowDoNotCountWhatIsOlder) {
  view::Machine machine({.gpus = 1});
  name(machine);
  add_seconds(machine, 900 * kSecond, 100, 0);
  add_seconds(machine, 999 * kSecond, 101, 0);
  EXPECT_EQ(value_of(encode_dcgm(machine, kBoth), "clock_event=\"power_cap\""), "10");
}

TEST(DcgmComputed, XidsAreCountedByCodeAsTheDriverToldThem) {
  view::Machine machine({.gpus = 1});
  name(machine);
  add_xid(machine, 600 * kSecond, 31, EventSource::kNvml);
  add_xid(machine, 900 * kSecond, 31, EventSource::kNvml);
  add_xid(machine, 901 * kSecond, 31, EventSource::kKernelLog);
  add_xid(machine, 902 * kSecond, 31, EventSource::kNvml);
  add_xid(machine, 903 * kSecond, 79, EventSource::kNvml);
  const std::string text = encode_dcgm(machine, kBoth);
  EXPECT_EQ(value_of(text, "window_size_in_ms=\"300000\",xid=\"31\""), "2");
  EXPECT_EQ(value_of(text, "xid=\"79\""), "1");
  const std::string shorter = encode_dcgm(machine, kBoth, {.xids_ns = 98 * kSecond});
  EXPECT_EQ(value_of(shorter, "window_size_in_ms=\"98000\",xid=\"79\""), "1");
  EXPECT_EQ(value_of(shorter, "xid=\"31\""), "");
}

TEST(DcgmComputed, AreThereOnlyIfTheyAreNamed) {
  view::Machine machine({.gpus = 1});
  name(machine);
  add_seconds(machine, 999 * kSecond, 1, 1);
  EXPECT_EQ(encode_dcgm(machine, "DCGM_FI_DEV_GPU_TEMP, gauge, x"), "");
  const CountersReading reading = parse_counters(
      "DCGM_EXP_XID_ERRORS_COUNT, label, x\nDCGM_EXP_XID_ERRORS_COUNT, gauge, x\n"
      "DCGM_EXP_XID_ERRORS_COUNT, gauge, x\nDCGM_FI_DEV_XID_ERRORS, gauge, x\n");
  EXPECT_EQ(reading.skipped,
            (std::vector<std::string>{"line 1: 'DCGM_EXP_XID_ERRORS_COUNT' cannot be a label",
                                      "line 3: 'DCGM_EXP_XID_ERRORS_COUNT' was there before"}));
  EXPECT_EQ(reading.counters.families.size(), 2u);
}

}  // namespace
}  // namespace everywatt::exporter
