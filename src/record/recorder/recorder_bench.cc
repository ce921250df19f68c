// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "record/recorder/pattern_row.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

// As large as the live file's, so that the caches are as little help as there.
constexpr std::uint64_t kRows = 9000;

struct Recorder {
  Recorder() {
    for (std::uint64_t i = 0; i < kRows + 1; ++i) {
      fill_pattern(i, 1, row);
      writer.append(row);
    }
  }
  std::unique_ptr<File> file = File::create_anonymous(small_layout(kRows)).value();
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  std::unique_ptr<Reader> reader = read_of(*file);
  std::uint32_t ring = reader->find_ring(kSmallFileGpu, Lane::kGauge).value();
  Row row{Scope::kGpu, Lane::kGauge};
};

void BM_AppendGaugeRow(benchmark::State& state) {
  Recorder recorder;
  for (auto _ : state) {
    ++recorder.row.time_ns;
    recorder.writer.append(recorder.row);
  }
}
BENCHMARK(BM_AppendGaugeRow);

void BM_LatestValue(benchmark::State& state) {
  const Recorder recorder;
  Reader::Cell cell;
  for (auto _ : state) {
    const std::uint64_t last = recorder.reader->published(recorder.ring) - 1;
    const RowState met =
        recorder.reader->read_cell(recorder.ring, last, MetricId::gpu_utilization_ratio, 0, cell);
    benchmark::DoNotOptimize(met);
    benchmark::DoNotOptimize(cell);
  }
}
BENCHMARK(BM_LatestValue);

void BM_WholeGaugeRow(benchmark::State& state) {
  Recorder recorder;
  std::uint64_t sequence = 0;
  for (auto _ : state) {
    const std::uint64_t oldest = recorder.reader->oldest(recorder.ring);
    sequence = (sequence + 1) % kRows;
    const RowState met = recorder.reader->read(recorder.ring, oldest + sequence, recorder.row);
    benchmark::DoNotOptimize(met);
  }
}
BENCHMARK(BM_WholeGaugeRow);

void BM_FindRowByTime(benchmark::State& state) {
  const Recorder recorder;
  std::int64_t time_ns = 0;
  for (auto _ : state) {
    time_ns = (time_ns + 4001) % static_cast<std::int64_t>(kRows);
    benchmark::DoNotOptimize(recorder.reader->lower_bound(recorder.ring, time_ns));
  }
}
BENCHMARK(BM_FindRowByTime);

void BM_OpenLiveFile(benchmark::State& state) {
  const auto file = File::create_anonymous(live_layout({.gpus = 8})).value();
  for (auto _ : state)
    benchmark::DoNotOptimize(read_of(*file));
}
BENCHMARK(BM_OpenLiveFile)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace everywatt::recorder
