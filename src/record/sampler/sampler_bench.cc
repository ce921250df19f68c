// SPDX-License-Identifier: Apache-2.0
//
// What a tick of each lane costs, against the simulation: our own part of it, since the simulated
// driver answers from memory. Beside it the bare calls, which are the floor.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "device/nvml/gpm.h"
#include "device/nvml/source.h"
#include "device/sim/playhead.h"
#include "record/recorder/writer.h"
#include "record/sampler/gpu_watch.h"
#include "record/sampler/lane_reader.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::Row;
using catalog::Scope;

// A GPU that plays the gemm trace, and a recorder.
class Bench {
 public:
  Bench()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("ew_bench_{}", ::getpid())) {
    std::filesystem::create_directories(folder_);
    const std::string head = (folder_ / "playhead").string();
    static_cast<void>(sim::Playhead::create(head, sim::Pace::kRealTime));
    const char* const source = std::getenv("EVERYWATT_SOURCE_DIR");
    std::ofstream(folder_ / "scenario.toml")
        << fmt::format("playhead = \"playhead\"\n[[device]]\ntrace = \"{}/traces/gemm\"\n",
                       source != nullptr ? source : ".");
    ::setenv("EVERYWATT_SIM", folder_.c_str(), 1);
    const std::string beside =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path() /
         "libnvidia-ml-sim.so")
            .string();
    auto library = nvml::Library::open({.path = beside, .resolve = {}});
    if (!library) return;
    library_ = std::move(*library);
    if (auto device = nvml::Device::open_nth(*library_, 0, {.tally = &tally_})) {
      device_.emplace(std::move(*device));
    }
    file_ = std::move(*recorder::File::create_anonymous(recorder::live_layout({.gpus = 1})));
    slot_ = file_->slots(Scope::kGpu).front();
  }
  ~Bench() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  bool is_open(benchmark::State& state) const {
    if (device_) return true;
    state.SkipWithError("no simulated GPU: set EVERYWATT_SOURCE_DIR to the checkout");
    return false;
  }

  std::filesystem::path folder_;
  nvml::CallTally tally_;
  std::unique_ptr<nvml::Library> library_;
  std::optional<nvml::Device> device_;
  std::unique_ptr<recorder::File> file_;
  std::uint32_t slot_ = 0;
};

void read_lane(benchmark::State& state, Lane lane, std::int64_t period_ns) {
  Bench bench;
  if (!bench.is_open(state)) return;
  recorder::Writer writer = *bench.file_->writer(bench.slot_, lane);
  LaneReader reader(lane);
  Row row(Scope::kGpu, lane);
  std::int64_t now_ns = 1'000'000'000;
  for (auto _ : state) {
    row.clear();
    row.time_ns = now_ns += period_ns;
    reader.read(*bench.device_, period_ns, row);
    writer.append(row);
  }
  state.counters["calls"] = benchmark::Counter(static_cast<double>(bench.tally_.calls),
                                               benchmark::Counter::kAvgIterations);
}

void BM_GaugeTick(benchmark::State& state) {
  read_lane(state, Lane::kGauge, 100'000'000);
}
void BM_SlowTick(benchmark::State& state) {
  read_lane(state, Lane::kSlow, 10'000'000'000);
}

// The calls of a gauge row that has all columns, and nothing else.
void BM_GaugeBareCalls(benchmark::State& state) {
  Bench bench;
  if (!bench.is_open(state)) return;
  Row row(Scope::kGpu, Lane::kGauge);
  for (auto _ : state) {
    for (const nvml::Source& source : nvml::sources(Lane::kGauge)) {
      source.read(*bench.device_, row);
    }
  }
}

void BM_GpmSampleAndValues(benchmark::State& state) {
  Bench bench;
  if (!bench.is_open(state)) return;
  auto gpm = nvml::Gpm::open(*bench.device_);
  Row row(Scope::kGpu, Lane::kGpm);
  std::int64_t now_ns = 0;
  for (auto _ : state) {
    gpm->take(now_ns += 100'000'000);
    benchmark::DoNotOptimize(gpm->form(row, nvml::Elsewhere::kUnknown));
  }
}

void BM_ProcessList(benchmark::State& state) {
  Bench bench;
  if (!bench.is_open(state)) return;
  ProcessLane lane(*bench.file_->writer(bench.slot_, Lane::kProcess));
  std::int64_t now_ns = 0;
  for (auto _ : state) {
    now_ns += 1'000'000'000;
    lane.list(*bench.device_, now_ns, now_ns, ProcessLane::Samples::kLeave);
  }
}

void BM_TotalsOfAGaugeRow(benchmark::State& state) {
  Bench bench;
  if (!bench.is_open(state)) return;
  Totals totals(*bench.file_->writer(bench.slot_, Lane::kTotals));
  Row gauge(Scope::kGpu, Lane::kGauge);
  const Row slow(Scope::kGpu, Lane::kSlow);
  totals.begin(GpuIs::kAnother, {.last_gauge = gauge,
                                 .last_slow = slow,
                                 .power_limit_max_watts = 700,
                                 .gauge_period_ns = 100'000'000});
  LaneReader reader(Lane::kGauge);
  reader.read(*bench.device_, 100'000'000, gauge);
  for (auto _ : state) {
    gauge.time_ns += 100'000'000;
    totals.see_gauge(gauge);
  }
}

BENCHMARK(BM_GaugeTick);
BENCHMARK(BM_GaugeBareCalls);
BENCHMARK(BM_GpmSampleAndValues);
BENCHMARK(BM_ProcessList);
BENCHMARK(BM_SlowTick);
BENCHMARK(BM_TotalsOfAGaugeRow);

}  // namespace
}  // namespace everywatt::sampler
