// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "serve/exporter/exporter_fixture.h"
#include "serve/web/server.h"
#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

// Scrapes of busy GPUs over loopback on one connection, one after the other, beside a recorder that
// stands still: the clock goes on, so bodies are made anew each 100 ms as on a live machine.
void scrape(benchmark::State& state, std::string_view path, std::string_view fields) {
  Folder folder;
  const auto gpus = static_cast<unsigned>(state.range(0));
  view::Machine machine({.gpus = gpus, .migs_per_gpu = 0, .path = folder.file("recorder")});
  for (unsigned gpu = 0; gpu < gpus; ++gpu)
    exporter::add_busy_gpu(machine, gpu);
  const std::int64_t start_ns = base::boottime_ns();
  auto server =
      Server::open({.address = "127.0.0.1",
                    .port = 0,
                    .recorder_path = folder.file("recorder"),
                    // To and fro within 250 ms: nothing becomes stale.
                    .clock = [start_ns] {
                      return exporter::kNow + (base::boottime_ns() - start_ns) % (250 * view::kMs);
                    }});
  CHECK(server);
  std::jthread thread([&server](const std::stop_token& stop) { CHECK((*server)->run(stop)); });
  Client client((*server)->port());
  std::vector<double> seconds;
  std::size_t bytes = 0;
  for (auto step : state) {
    const auto before = std::chrono::steady_clock::now();
    client.ask("GET", path, fields);
    const Answer answer = client.read();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
    bytes = answer.body.size();
    CHECK(answer.status == 200);
  }
  std::ranges::sort(seconds);
  state.counters["p99_us"] = 1e6 * seconds[seconds.size() * 99 / 100];
  state.counters["max_us"] = 1e6 * seconds.back();
  state.counters["bytes"] = static_cast<double>(bytes);
  state.SetItemsProcessed(state.iterations());
}

void BM_ScrapePlain(benchmark::State& state) {
  scrape(state, "/metrics", "");
}
BENCHMARK(BM_ScrapePlain)->Arg(1)->Arg(8)->Arg(64)->UseRealTime();

void BM_ScrapePacked(benchmark::State& state) {
  scrape(state, "/metrics", "Accept-Encoding: gzip\r\n");
}
BENCHMARK(BM_ScrapePacked)->Arg(1)->Arg(8)->Arg(64)->UseRealTime();

void BM_ScrapePackedDcgm(benchmark::State& state) {
  scrape(state, "/metrics?names=dcgm", "Accept-Encoding: gzip\r\n");
}
BENCHMARK(BM_ScrapePackedDcgm)->Arg(8)->UseRealTime();

void BM_AskForGpus(benchmark::State& state) {
  scrape(state, "/api/v1/gpus", "Accept-Encoding: gzip\r\n");
}
BENCHMARK(BM_AskForGpus)->Arg(8)->UseRealTime();

}  // namespace
}  // namespace everywatt::web
