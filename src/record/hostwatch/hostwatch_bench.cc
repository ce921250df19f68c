// SPDX-License-Identifier: Apache-2.0
//
// What a tick costs: on this machine's own files, with this process as the one GPU process, and
// with its children as data loaders. At one tick a second, 1 ms is 0.1 % of a core.
#include <benchmark/benchmark.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "catalog/row.h"
#include "record/hostwatch/hostwatch.h"

namespace everywatt::hostwatch {
namespace {

std::vector<pid_t> start_children(std::int64_t count) {
  std::vector<pid_t> children;
  for (std::int64_t i = 0; i < count; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::pause();
      ::_exit(0);
    }
    children.push_back(pid);
  }
  return children;
}

void end_children(const std::vector<pid_t>& children) {
  for (const pid_t pid : children) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

void BM_TickWithChildren(benchmark::State& state) {
  using catalog::MetricId;
  recorder::MachineShape shape;
  shape.gpus = 1;
  auto recorder = recorder::File::create_anonymous(recorder::live_layout(shape)).value();
  auto identities = recorder::File::create_anonymous(recorder::identities_layout()).value();
  const std::uint32_t gpu = recorder->slots(catalog::Scope::kGpu).at(0);
  recorder->set_status(gpu, recorder::DeviceStatus::kOk, base::boottime_ns());
  for (unsigned part = 0; part < recorder::kPartCount; ++part) {
    recorder->header().parts[part].pid.store(static_cast<std::uint64_t>(::getpid()));
  }
  catalog::Row row(catalog::Scope::kGpu, catalog::Lane::kProcess);
  row.time_ns = base::boottime_ns();
  row.set(MetricId::process_index, std::uint64_t{0});
  row.set(MetricId::process_count, std::uint64_t{1});
  row.set(MetricId::process_pid, static_cast<std::uint64_t>(::getpid()));
  recorder->writer(gpu, catalog::Lane::kProcess).value().append(row);
  const auto children = start_children(state.range(0));

  Options options;
  // A second passes each tick, so that what is read each 5 or 10 s is in the mean.
  std::int64_t now_ns = base::boottime_ns();
  options.boottime = [&now_ns] { return now_ns; };
  auto watch = Hostwatch::open(std::move(options), *recorder, *identities).value();
  watch->tick();
  for (auto _ : state) {
    now_ns += 1'000'000'000;
    watch->tick();
  }
  end_children(children);
}
BENCHMARK(BM_TickWithChildren)->Arg(0)->Arg(14)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace everywatt::hostwatch
