// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <zlib.h>

#include "serve/exporter/exporter_fixture.h"

namespace everywatt::exporter {
namespace {

std::size_t gzip_bytes(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), 1);
  return size;
}

void encode_gpus(benchmark::State& state, NameSets names) {
  const auto gpus = static_cast<unsigned>(state.range(0));
  view::Machine machine({.gpus = gpus});
  for (unsigned gpu = 0; gpu < gpus; ++gpu)
    add_busy_gpu(machine, gpu);
  add_host(machine);
  const auto view = machine.view(kNow);
  Encoder encoder({.hostname = "node-7"});
  std::string text;
  for (auto step : state) {
    text.clear();
    Exposition out(text);
    encoder.encode(*view, {.names = names}, out);
    out.end();
    benchmark::DoNotOptimize(text.data());
  }
  state.counters["bytes"] = static_cast<double>(text.size());
  state.counters["packed_bytes"] = static_cast<double>(gzip_bytes(text));
}

void BM_EncodeAll(benchmark::State& state) {
  encode_gpus(state, kDefaultNames);
}
BENCHMARK(BM_EncodeAll)->Arg(1)->Arg(8)->Arg(64)->Unit(benchmark::kMicrosecond);

void BM_EncodeDcgm(benchmark::State& state) {
  encode_gpus(state, static_cast<NameSets>(Names::kDcgm));
}
BENCHMARK(BM_EncodeDcgm)->Arg(1)->Arg(8)->Arg(64)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace everywatt::exporter
