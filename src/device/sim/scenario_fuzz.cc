// SPDX-License-Identifier: Apache-2.0
#include "device/sim/scenario.h"

#include <algorithm>
#include <memory>
#include <string>

#include "base/fuzz_target.h"
#include "device/sim/gpu.h"
#include "device/sim/gpu_trace.h"

namespace everywatt::sim {
namespace {

constexpr std::int64_t kMs = 1'000'000;

// Ten seconds in which every reading changes once, and one process runs.
std::shared_ptr<const GpuTrace> make_trace() {
  auto trace = std::make_shared<GpuTrace>();
  for (Steps& steps : trace->columns) {
    steps.append(0, 1);
    steps.append(5'000'000, 50);
    steps.finish();
  }
  for (std::uint32_t at_us = 0; at_us < 10'000'000; at_us += 100'000) {
    trace->gpm.push_back({.at_us = at_us, .means = {}});
  }
  trace->listings.push_back(
      {.at_ns = 1'000 * kMs, .end_ns = 9'000 * kMs, .processes = {{.memory_bytes = 1}}});
  trace->last_ns = 10'000 * kMs;
  return trace;
}

void play(const Scenario& scenario, std::uint32_t number) {
  static const std::shared_ptr<const GpuTrace> trace = make_trace();
  const Loop loop = scenario.devices[number].loop.value_or(loop_of("any", trace->last_ns));
  const Gpu gpu(number, scenario, trace, loop);
  for (const std::int64_t played_ms : {-1'000, 0, 1, 1'500, 60'000, 1'000'000'000}) {
    const std::int64_t played_ns = played_ms * kMs;
    for (std::size_t column = 0; column < kColumns; ++column) {
      static_cast<void>(gpu.read(static_cast<Column>(column), played_ns));
    }
    for (const ProcessKind kind :
         {ProcessKind::kCompute, ProcessKind::kGraphics, ProcessKind::kMps}) {
      static_cast<void>(gpu.processes(kind, played_ns));
    }
    static_cast<void>(gpu.process_samples(played_ns - 5'000 * kMs, played_ns));
  }
}

// The form has no quotes within texts, and writes whole milliseconds.
bool can_be_written(const Scenario& scenario) {
  const auto is_plain = [](const std::string& text) { return text.find('"') == text.npos; };
  return is_plain(scenario.playhead) &&
         std::ranges::all_of(scenario.devices, [&](const DeviceEntry& device) {
           return is_plain(device.trace) && (!device.loop || (device.loop->start_ns % kMs == 0 &&
                                                              device.loop->begin_ns % kMs == 0 &&
                                                              device.loop->end_ns % kMs == 0));
         });
}

}  // namespace

// A scenario: understood and played, or refused with the file's name.
FUZZ_TARGET(scenario) {
  const auto scenario = parse_scenario(bytes, "/folder", "e.toml");
  if (!scenario) {
    CHECK(scenario.error().message.starts_with("e.toml:"));
    return;
  }
  CHECK(!scenario->devices.empty());
  const std::size_t played = std::min<std::size_t>(scenario->devices.size(), 2);
  for (std::uint32_t number = 0; number < played; ++number)
    play(*scenario, number);

  if (!can_be_written(*scenario)) return;
  const std::string text = format_scenario(*scenario);
  const auto again = parse_scenario(text, "/folder", "again.toml");
  CHECK(again.has_value());
  CHECK(again->devices.size() == scenario->devices.size());
  CHECK(format_scenario(*again) == text);
}

}  // namespace everywatt::sim
