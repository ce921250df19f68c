// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "read/view/processes.h"
#include "read/view/series.h"
#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;

void fill(Machine& machine, int rows) {
  for (int i = 0; i < rows; ++i) {
    machine.add_gpu(0, Lane::kGauge, (i + 1) * 100 * kMs, [&](Row& row) {
      row.set(MetricId::gpu_power_watts, 100.0 + i);
      if (i % 2 == 0) row.set(MetricId::gpu_utilization_ratio, 0.5);
    });
  }
}

void latest(benchmark::State& state, MetricId id) {
  Machine machine;
  fill(machine, 8'000);
  // The clock of a live view, a little after the last row.
  const std::int64_t offset = 8'000 * 100 * kMs - base::boottime_ns() + 50 * kMs;
  const auto view = machine.view_with([offset] { return base::boottime_ns() + offset; });
  const Handle handle = view->handle(machine.gpu(), id);
  for (auto step : state)
    benchmark::DoNotOptimize(view->latest(handle));
}

void BM_LatestInTheNewestRow(benchmark::State& state) {
  latest(state, MetricId::gpu_power_watts);
}
BENCHMARK(BM_LatestInTheNewestRow)->Iterations(1'000'000);

void BM_LatestOneRowBack(benchmark::State& state) {
  latest(state, MetricId::gpu_utilization_ratio);
}
BENCHMARK(BM_LatestOneRowBack)->Iterations(1'000'000);

void BM_LatestOfAReplay(benchmark::State& state) {
  Machine machine;
  fill(machine, 8'000);
  const auto view = machine.view(300 * kSecond);
  const Handle handle = view->handle(machine.gpu(), MetricId::gpu_power_watts);
  for (auto step : state)
    benchmark::DoNotOptimize(view->latest(handle));
}
BENCHMARK(BM_LatestOfAReplay);

void BM_SeriesOf10Minutes(benchmark::State& state) {
  Machine machine;
  fill(machine, 6'000);
  const auto view = machine.view();
  const Handle handle = view->handle(machine.gpu(), MetricId::gpu_power_watts);
  for (auto step : state) {
    benchmark::DoNotOptimize(read_series(
        *view, handle, {.from_ns = 0, .to_ns = 600 * kSecond, .step_ns = state.range(0) * kMs}));
  }
}
BENCHMARK(BM_SeriesOf10Minutes)->Arg(0)->Arg(1'000);

void BM_ListProcesses(benchmark::State& state) {
  Machine machine;
  for (int second = 1; second <= 20; ++second) {
    for (std::uint64_t i = 0; i < 4; ++i) {
      machine.add_gpu(0, Lane::kProcess, second * kSecond, [&](Row& row) {
        row.set(MetricId::process_index, i);
        row.set(MetricId::process_count, std::uint64_t{4});
        row.set(MetricId::process_pid, 1000 + i);
      });
    }
  }
  const auto view = machine.view();
  for (auto step : state)
    benchmark::DoNotOptimize(list_processes(*view, machine.gpu()));
}
BENCHMARK(BM_ListProcesses);

}  // namespace
}  // namespace everywatt::view
