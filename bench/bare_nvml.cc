// SPDX-License-Identifier: Apache-2.0
//
// The floor that the sampler is measured against: the driver calls of the default lanes on the same
// schedule for GPU 0, and nothing else: no checks, no recorder, no threads.
//
//   bare_nvml SECONDS [GPM_PERIOD_MS] [LIBRARY]
//
// Prints what NVML's init took, the CPU used after it and that share of one core. GPM_PERIOD_MS is
// 1000 by default.
#include <dlfcn.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

#include "device/nvml/abi.h"

namespace {

using namespace everywatt::nvml::abi;

void* library = nullptr;

template <typename Signature>
Signature* find(const Function<Signature>& function) {
  for (const char* name : function.names) {
    if (name == nullptr) break;
    if (void* symbol = dlsym(library, name)) return reinterpret_cast<Signature*>(symbol);
  }
  return nullptr;
}

// Calls a function that the driver may lack; its answer does not matter here.
template <const auto& kFunction, typename... Args>
void call(Args... args) {
  static auto* const function = find(kFunction);
  if (function != nullptr) static_cast<void>(function(args...));
}

std::int64_t read_clock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

struct Task {
  const char* name;
  int period_ticks;  // of 100 ms
  std::function<void()> run;
  std::int64_t cpu_ns = 0;
};

template <const auto& kFunction>
void read_number(Device gpu) {
  unsigned number = 0;
  call<kFunction>(gpu, &number);
}

template <const auto& kFunction>
void read_engine(Device gpu) {
  unsigned percent = 0;
  unsigned period_us = 0;
  call<kFunction>(gpu, &percent, &period_us);
}

template <std::size_t kCount>
void read_fields(Device gpu, const std::array<unsigned, kCount>& ids) {
  std::array<FieldValue, kCount> fields{};
  for (std::size_t i = 0; i < kCount; ++i)
    fields[i].field_id = ids[i];
  call<kDeviceGetFieldValues>(gpu, static_cast<int>(kCount), fields.data());
}

void read_gauges(Device gpu) {
  MemoryV2 memory{};
  memory.version = version_word<MemoryV2>(2);
  call<kDeviceGetMemoryInfoV2>(gpu, &memory);
  read_number<kDeviceGetPowerUsage>(gpu);
  read_fields(gpu,
              std::array{field::kPowerInstant, field::kMemoryTemperature, field::kViolationPower});
  Temperature temperature{};
  temperature.version = version_word<Temperature>(1);
  call<kDeviceGetTemperatureV>(gpu, &temperature);
  for (const Selector which : {clock::kSm, clock::kMem, clock::kVideo, clock::kGraphics}) {
    unsigned megahertz = 0;
    call<kDeviceGetClockInfo>(gpu, which, &megahertz);
  }
  unsigned long long mask = 0;
  call<kDeviceGetCurrentClocksEventReasons>(gpu, &mask);
  int state = 0;
  call<kDeviceGetPerformanceState>(gpu, &state);
}

void read_engines(Device gpu) {
  read_engine<kDeviceGetEncoderUtilization>(gpu);
  read_engine<kDeviceGetDecoderUtilization>(gpu);
  read_engine<kDeviceGetJpgUtilization>(gpu);
  read_engine<kDeviceGetOfaUtilization>(gpu);
}

void drain_power(Device gpu) {
  static std::array<Sample, 128> samples{};
  static unsigned long long since_us = 0;
  ValueType type{};
  auto count = static_cast<unsigned>(samples.size());
  call<kDeviceGetSamples>(gpu, sampling::kTotalPower, since_us, &type, &count, samples.data());
  for (unsigned i = 0; i < count; ++i)
    since_us = std::max(since_us, samples[i].time_stamp);
}

// All that Hopper has but NVLink, which a GPU alone in its machine lacks: shares, PCIe, C2C, and
// the engines for decoding, JPEG, optical flow and encoding.
std::vector<unsigned> list_gpm_ids() {
  std::vector<unsigned> ids;
  for (const auto& [first, last] : {std::pair{1U, 13U},
                                    {20U, 21U},
                                    {30U, 37U},
                                    {40U, 47U},
                                    {50U, 51U},
                                    {100U, 101U},
                                    {166U, 169U}}) {
    for (unsigned id = first; id <= last; ++id)
      ids.push_back(id);
  }
  return ids;
}

void read_gpm(Device gpu) {
  static std::array<GpmSample, 2> pair{};
  static GpmMetricsGet request{};
  static bool is_first = true;
  if (is_first) {
    call<kGpmSampleAlloc>(&pair[0]);
    call<kGpmSampleAlloc>(&pair[1]);
    call<kGpmSampleGet>(gpu, pair[0]);
    is_first = false;
    return;
  }
  call<kGpmSampleGet>(gpu, pair[1]);
  request.version = kGpmMetricsGetVersion;
  static std::vector<unsigned> ids = list_gpm_ids();
  request.num_metrics = static_cast<unsigned>(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i)
    request.metrics[i].metric_id = ids[i];
  request.sample1 = pair[0];
  request.sample2 = pair[1];
  call<kGpmMetricsGet>(&request);
  // As the sampler does: what the driver refuses is not asked for again.
  ids.clear();
  for (unsigned i = 0; i < request.num_metrics; ++i) {
    if (request.metrics[i].nvml_return == Return::kSuccess) {
      ids.push_back(request.metrics[i].metric_id);
    }
  }
  std::swap(pair[0], pair[1]);
}

template <const auto& kFunction>
void read_list(Device gpu) {
  static std::array<ProcessInfo, 32> entries{};
  auto count = static_cast<unsigned>(entries.size());
  call<kFunction>(gpu, &count, entries.data());
}

void read_processes(Device gpu) {
  read_list<kDeviceGetComputeRunningProcesses>(gpu);
  read_list<kDeviceGetGraphicsRunningProcesses>(gpu);
  read_list<kDeviceGetMpsComputeRunningProcesses>(gpu);
}

void drain_process_utilization(Device gpu) {
  static std::array<ProcessUtilizationSample, 128> samples{};
  static unsigned long long since_us = 0;
  auto count = static_cast<unsigned>(samples.size());
  call<kDeviceGetProcessUtilization>(gpu, samples.data(), &count, since_us);
  for (unsigned i = 0; i < std::min<std::size_t>(count, samples.size()); ++i) {
    since_us = std::max(since_us, samples[i].time_stamp);
  }
}

void read_memory_errors(Device gpu) {
  for (const Selector error : {ecc_error::kCorrected, ecc_error::kUncorrected}) {
    for (const Selector counter : {ecc_counter::kVolatile, ecc_counter::kAggregate}) {
      unsigned long long errors = 0;
      call<kDeviceGetTotalEccErrors>(gpu, error, counter, &errors);
      for (Selector location = 0; location <= memory_location::kSram; ++location) {
        call<kDeviceGetMemoryErrorCounter>(gpu, error, counter, location, &errors);
      }
    }
  }
  std::array<unsigned, 4> rows{};
  call<kDeviceGetRemappedRows>(gpu, &rows[0], &rows[1], &rows[2], &rows[3]);
  RowRemapperHistogram banks{};
  call<kDeviceGetRowRemapperHistogram>(gpu, &banks);
  EccSramErrorStatus sram{};
  sram.version = version_word<EccSramErrorStatus>(1);
  call<kDeviceGetSramEccErrorStatus>(gpu, &sram);
}

void read_slow(Device gpu) {
  unsigned long long millijoules = 0;
  call<kDeviceGetTotalEnergyConsumption>(gpu, &millijoules);
  read_number<kDeviceGetPcieReplayCounter>(gpu);
  read_number<kDeviceGetCurrPcieLinkGeneration>(gpu);
  read_number<kDeviceGetCurrPcieLinkWidth>(gpu);
  Bar1Memory bar1{};
  call<kDeviceGetBar1MemoryInfo>(gpu, &bar1);
  read_fields(gpu, std::array{field::kViolationThermal, field::kViolationSyncBoost,
                              field::kViolationBoardLimit, field::kViolationLowUtilization,
                              field::kViolationReliability, field::kViolationTotalAppClocks,
                              field::kViolationTotalBaseClocks});
  read_fields(gpu, std::array{field::kGpuRecoveryAction});
  read_number<kDeviceGetEnforcedPowerLimit>(gpu);
  read_number<kDeviceGetPowerManagementLimit>(gpu);
  for (const Selector which : {clock::kSm, clock::kMem}) {
    unsigned megahertz = 0;
    call<kDeviceGetApplicationsClock>(gpu, which, &megahertz);
  }
  read_number<kDeviceGetPersistenceMode>(gpu);
  read_number<kDeviceGetComputeMode>(gpu);
  unsigned current = 0;
  unsigned pending = 0;
  call<kDeviceGetMigMode>(gpu, &current, &pending);
  call<kDeviceGetEccMode>(gpu, &current, &pending);
  read_memory_errors(gpu);
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 30;
  const int gpm_ticks = std::max(1, (argc > 2 ? std::atoi(argv[2]) : 1000) / 100);
  library = dlopen(argc > 3 ? argv[3] : "libnvidia-ml.so.1", RTLD_NOW);
  const std::int64_t begin_ns = read_clock(CLOCK_MONOTONIC);
  auto* const init = library != nullptr ? find(kInit) : nullptr;
  Device gpu{};
  if (init == nullptr || init() != Return::kSuccess) {
    std::fprintf(stderr, "bare_nvml: no driver\n");
    return 3;
  }
  const std::int64_t init_ns = read_clock(CLOCK_MONOTONIC) - begin_ns;
  call<kDeviceGetHandleByIndex>(0U, &gpu);

  std::vector<Task> tasks = {
      {"gauges", 1, [gpu] { read_gauges(gpu); }},
      {"utilization", 2,
       [gpu] {
         Utilization rates{};
         call<kDeviceGetUtilizationRates>(gpu, &rates);
       }},
      {"engines", 10, [gpu] { read_engines(gpu); }},
      {"power", 10, [gpu] { drain_power(gpu); }},
      {"gpm", gpm_ticks, [gpu] { read_gpm(gpu); }},
      {"processes", 10, [gpu] { read_processes(gpu); }},
      {"process_utilization", 50, [gpu] { drain_process_utilization(gpu); }},
      {"slow", 100, [gpu] { read_slow(gpu); }},
  };
  const std::int64_t cpu_begin_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t start_ns = read_clock(CLOCK_MONOTONIC);
  for (int tick = 0; tick < seconds * 10; ++tick) {
    for (Task& task : tasks) {
      if (tick % task.period_ticks != 0) continue;
      const std::int64_t before_ns = read_clock(CLOCK_PROCESS_CPUTIME_ID);
      task.run();
      task.cpu_ns += read_clock(CLOCK_PROCESS_CPUTIME_ID) - before_ns;
    }
    const std::int64_t next_ns = start_ns + (tick + 1) * 100'000'000LL;
    const timespec until{next_ns / 1'000'000'000, next_ns % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
  }
  const auto elapsed = static_cast<double>(read_clock(CLOCK_MONOTONIC) - start_ns);
  const auto cpu = static_cast<double>(read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu_begin_ns);
  std::printf("{\"init_ms\": %.2f, \"cpu_s\": %.3f, \"cpu_ratio\": %.5f",
              static_cast<double>(init_ns) / 1e6, cpu / 1e9, cpu / elapsed);
  for (const Task& task : tasks) {
    std::printf(", \"%s_ratio\": %.5f", task.name, static_cast<double>(task.cpu_ns) / elapsed);
  }
  std::puts("}");
  return 0;
}
