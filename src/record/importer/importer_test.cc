// SPDX-License-Identifier: Apache-2.0
#include "record/importer/importer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "device/sim/fake_trace_files.h"
#include "read/view/device.h"
#include "read/view/events.h"
#include "read/view/processes.h"
#include "read/view/series.h"
#include "read/view/view.h"

namespace everywatt::importer {
namespace {

using catalog::MetricId;
using catalog::State;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

class ImporterTest : public testing::Test {
 protected:
  // Two refreshes 100 ms apart with a tick between them that has nothing new.
  void write_small(const std::string& name) {
    files_.write_gpu(name,
                     {{.t_ms = 10, .gpm = "1.50", .util = 10, .used = 1000, .energy_mj = 500},
                      {.t_ms = 60, .util = 99, .used = 9999, .energy_mj = 500},
                      {.t_ms = 110, .gpm = "97.01", .util = 20, .used = 2000, .energy_mj = 1500}});
  }

  base::Result<Summary> import(const std::vector<std::string>& names,
                               const std::string& profile = "h200") {
    Options options{.stems = {}, .output = output(), .profile = profile};
    for (const std::string& name : names) {
      options.stems.push_back(files_.stem(name));
    }
    return import_traces(options);
  }

  std::unique_ptr<view::View> open() {
    auto view = view::View::open({.recorder_path = output()});
    EXPECT_TRUE(view) << view.error().message;
    return *std::move(view);
  }

  std::vector<view::Point> points(const view::View& view, MetricId id, std::size_t gpu = 0) {
    const std::uint32_t slot = view::gpus(view).at(gpu).slot;
    return view::read_series(view, view.handle(slot, id), {.to_ns = view.now_ns()}).points;
  }

  std::string output() const { return files_.folder() + "/out.rec"; }

  sim::FakeTraceFiles files_;
};

TEST_F(ImporterTest, GaugeRowsAreTheTicksAtWhichTheCountersMoved) {
  write_small("a");
  const auto summary = import({"a"});
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->gpus, 1u);
  EXPECT_EQ(summary->duration_ns, 110 * kMs);
  const auto view = open();
  const auto used = points(*view, MetricId::gpu_memory_used_bytes);
  ASSERT_EQ(used.size(), 2u);
  EXPECT_EQ(used[0].bits, 1000u);
  EXPECT_EQ(used[1].bits, 2000u);
  EXPECT_EQ(used[1].time_ns - used[0].time_ns, 100 * kMs);
  EXPECT_EQ(points(*view, MetricId::gpu_power_watts).back().value, 0.1);
  EXPECT_EQ(points(*view, MetricId::gpu_power_instant_watts).back().value, 0.2);
  EXPECT_EQ(points(*view, MetricId::gpu_clock_event_reasons_mask).back().bits, 4u);
  EXPECT_EQ(points(*view, MetricId::gpu_sm_clock_hertz).back().value, 1980e6);
}

TEST_F(ImporterTest, UtilizationIsNewEachFifthOfASecondOnly) {
  files_.write_gpu("a", {{.t_ms = 0, .gpm = "1.00", .util = 10},
                         {.t_ms = 100, .gpm = "1.00", .util = 10},
                         {.t_ms = 200, .gpm = "1.00", .util = 30},
                         {.t_ms = 300, .gpm = "1.00", .util = 30}});
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const auto utilization = points(*view, MetricId::gpu_utilization_ratio);
  ASSERT_EQ(utilization.size(), 2u);
  EXPECT_EQ(utilization[0].value, 0.1);
  EXPECT_EQ(utilization[1].value, 0.3);
}

TEST_F(ImporterTest, GpmRowsAreWindowsBetweenRefreshes) {
  write_small("a");
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const auto active = points(*view, MetricId::gpu_sm_active_ratio);
  ASSERT_EQ(active.size(), 2u);
  EXPECT_EQ(active[0].value, 1.5 / 100);
  EXPECT_EQ(active[1].value, 97.01 / 100);
  EXPECT_EQ(active[1].window_start_ns, active[0].window_end_ns);
  EXPECT_EQ(active[1].window_end_ns - active[1].window_start_ns, 100 * kMs);
  EXPECT_EQ(points(*view, MetricId::gpu_pcie_receive_bytes_per_second).back().value,
            97.01 * 1048576);
}

TEST_F(ImporterTest, WithoutGpmEachOfItsMetricsIsNotSupported) {
  write_small("a");
  ASSERT_TRUE(import({"a"}, "a100"));
  const auto view = open();
  const auto gpu = view::gpus(*view).at(0);
  EXPECT_EQ(gpu.name, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(view->latest(gpu.slot, MetricId::gpu_sm_active_ratio).reading.state,
            State::kNotSupported);
  EXPECT_EQ(view->number(gpu.slot, MetricId::gpu_utilization_ratio), 0.1);
}

TEST_F(ImporterTest, PowerSamplesHoldTheInstantPowerAndTheFileSaysSo) {
  write_small("a");
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const auto samples = points(*view, MetricId::gpu_power_sample_watts);
  ASSERT_EQ(samples.size(), 5u);  // at 20.7, 41.4, 62.1, 82.8 and 103.5 ms
  EXPECT_EQ(samples[0].value, 0.2);
  EXPECT_EQ(samples[1].time_ns - samples[0].time_ns, 20'700'000);
  const auto events = view::read_events(*view, {});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, catalog::EventKind::kAnnotation);
  EXPECT_THAT(events[0].text, HasSubstr("holds the instant power"));
}

TEST_F(ImporterTest, EnergyIsRecordedWhereItMoved) {
  write_small("a");
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const auto energy = points(*view, MetricId::gpu_energy_joules_total);
  ASSERT_EQ(energy.size(), 2u);
  EXPECT_EQ(energy[0].value, 0.5);
  EXPECT_EQ(energy[1].value, 1.5);
}

class ImportedProcessesTest : public ImporterTest {
 protected:
  // Ten seconds, a refresh each half second.
  void write_long(const std::string& name, const std::string& processes) {
    std::vector<sim::FakeTraceFiles::Row> rows;
    for (int i = 0; i <= 20; ++i) {
      rows.push_back({.t_ms = 500.0 * i, .gpm = "5.00", .used = 100});
    }
    files_.write_gpu(name, rows);
    if (!processes.empty()) files_.write_processes(name, processes);
  }
};

TEST_F(ImportedProcessesTest, StartAndEndWithTheListsThatHoldThem) {
  write_long("a", "2010,77,4096,12,3,-1,-1\n3010,77,8192,-1,-1,-1,-1\n4010,77,8192,5,1,0,0\n");
  std::ofstream(files_.folder() + "/a.owners.json")
      << R"({"user": "wei", "uid": 1001, "command": ["python3", "-u", "train.py", "--lr", "1"],
             "environment": {"SLURM_JOB_ID": "4711"}})";
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const auto gpu = view::gpus(*view).at(0);
  const std::int64_t start_ns = view->now_ns() - 10'000 * kMs;
  EXPECT_TRUE(view::list_processes(*view, gpu.slot, view::Join::kAll, start_ns + 1500 * kMs)
                  .processes.empty());
  const auto during =
      view::list_processes(*view, gpu.slot, view::Join::kAll, start_ns + 3500 * kMs);
  ASSERT_EQ(during.processes.size(), 1u);
  EXPECT_EQ(during.processes[0].pid, 77u);
  EXPECT_EQ(during.processes[0].memory_bytes, 8192u);
  EXPECT_EQ(during.processes[0].sm_ratio, 0.12);  // of the list before: this one had no sample
  ASSERT_TRUE(during.processes[0].identity);
  EXPECT_EQ(during.processes[0].identity->user, "wei");
  EXPECT_EQ(during.processes[0].identity->command, "python3 train.py");
  EXPECT_EQ(during.processes[0].identity->slurm_job, "4711");
  const auto now = view::list_processes(*view, gpu.slot);
  EXPECT_TRUE(now.is_known());
  EXPECT_TRUE(now.processes.empty());

  auto events = view::read_events(*view, {});
  std::erase_if(events, [](const view::Event& event) {
    return event.kind == catalog::EventKind::kAnnotation;
  });
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, catalog::EventKind::kProcessStart);
  EXPECT_EQ(events[0].time_ns, start_ns + 2010 * kMs);
  EXPECT_EQ(events[0].pid, 77u);
  EXPECT_EQ(events[0].slot, gpu.slot);
  EXPECT_EQ(events[1].kind, catalog::EventKind::kProcessEnd);
  EXPECT_EQ(events[1].time_ns, start_ns + 5010 * kMs);
  EXPECT_EQ(events[1].text, "python3 train.py, after 3 s on the GPU");
}

TEST_F(ImportedProcessesTest, AreNamedAsOnALiveMachine) {
  write_long("a", "2010,77,4096,12,3,-1,-1\n");
  const std::string id(64, 'a');
  std::ofstream(files_.folder() + "/a.owners.json")
      << R"({"user": "wei", "uid": 1001, "command": ["/usr/bin/python3", "-c", "token='s3cret'"],
             "cgroup": "/kubepods.slice/kubepods-pod0a1b2c3d_0000_4000_8000_000000000001.slice/cri-containerd-)"
      << id << R"(.scope", "environment": {"TOKEN": "s3cret", "SLURM_JOB_ACCOUNT": "nlp"}})";
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const auto listing = view::list_processes(*view, view::gpus(*view).at(0).slot, view::Join::kAll,
                                            view->now_ns() - 7'500 * kMs);
  ASSERT_EQ(listing.processes.size(), 1u);
  ASSERT_TRUE(listing.processes[0].identity);
  const view::Identity& who = *listing.processes[0].identity;
  EXPECT_EQ(who.command, "python3 -c");
  EXPECT_EQ(who.container, id);
  EXPECT_EQ(who.runtime, "containerd");
  EXPECT_EQ(who.pod_uid, "0a1b2c3d-0000-4000-8000-000000000001");
  std::ifstream file(output(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(bytes.find("s3cret"), std::string::npos);
}

TEST_F(ImportedProcessesTest, OneThatRunsAtTheEndHasNotEnded) {
  write_long("a", "9010,77,4096,12,3,0,0\n");
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  EXPECT_EQ(view::list_processes(*view, view::gpus(*view).at(0).slot).processes.size(), 1u);
  for (const view::Event& event : view::read_events(*view, {})) {
    EXPECT_NE(event.kind, catalog::EventKind::kProcessEnd);
  }
}

TEST_F(ImportedProcessesTest, HostRowsBecomeCounters) {
  write_long("a", "1010,77,4096,12,3,0,0\n");
  files_.write_host("a",
                    "1000,50,10,0,40,16,R,100,2,150,18,1000,4096,512\n"
                    "2000,25,0,25,50,16,S,50,2,100,18,2000,8192,512\n");
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const std::uint32_t node = *view::node(*view);
  const auto last = [&](MetricId id) {
    return view::read_series(*view, view->handle(node, id), {.to_ns = view->now_ns()})
        .points.back()
        .value;
  };
  EXPECT_EQ(last(MetricId::host_cpu_user_seconds_total), 8.0 + 4.0);
  EXPECT_EQ(last(MetricId::host_cpu_iowait_seconds_total), 4.0);
  EXPECT_EQ(last(MetricId::host_cpus), 16.0);
  const auto listing = view::list_processes(*view, view::gpus(*view).at(0).slot, view::Join::kAll,
                                            view->now_ns() - 8'000 * kMs);
  ASSERT_EQ(listing.processes.size(), 1u);
  ASSERT_TRUE(listing.processes[0].host);
  EXPECT_EQ(listing.processes[0].host->cpu_cores, 0.5);
  EXPECT_EQ(listing.processes[0].host->children_cpu_cores, 1.0);
  EXPECT_EQ(listing.processes[0].host->read_bytes_per_second, 4096.0);
  EXPECT_EQ(listing.processes[0].host->resident_bytes, 2000u * 1024);
  EXPECT_EQ(listing.processes[0].host->state, 'S');
}

TEST_F(ImporterTest, SeveralTracesEndTogetherOnGpusOfTheirOwn) {
  write_small("a");
  files_.write_gpu(
      "b", {{.t_ms = 0, .gpm = "2.00", .used = 5}, {.t_ms = 1000, .gpm = "3.00", .used = 6}});
  const auto summary = import({"b", "a"});
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->duration_ns, 1000 * kMs);
  const auto view = open();
  const auto gpus = view::gpus(*view);
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_NE(gpus[0].uuid, gpus[1].uuid);
  EXPECT_EQ(gpus[1].index, 1u);
  EXPECT_EQ(points(*view, MetricId::gpu_memory_used_bytes, 0).back().time_ns,
            points(*view, MetricId::gpu_memory_used_bytes, 1).back().time_ns);
  EXPECT_EQ(view->number(gpus[0].slot, MetricId::gpu_memory_used_bytes), 6.0);
  EXPECT_EQ(view->number(gpus[1].slot, MetricId::gpu_memory_used_bytes), 2000.0);
}

TEST_F(ImporterTest, DamageIsNamedWithFileAndLineAndLeavesNothing) {
  const auto complaint = [&](const std::string& file, const std::string& text) {
    write_small("a");
    files_.write(file, text);
    const auto summary = import({"a"});
    EXPECT_FALSE(summary);
    EXPECT_FALSE(std::filesystem::exists(output()));
    std::filesystem::remove(files_.folder() + "/" + file);
    if (summary) return std::string();
    EXPECT_EQ(summary.error().code, base::Code::kCorrupt);
    return summary.error().message;
  };
  const std::string header = sim::FakeTraceFiles::kGpuHeader;
  const std::string row = sim::FakeTraceFiles::gpu_row({.t_ms = 10, .gpm = "1.00"});
  EXPECT_THAT(complaint("a.gpu.csv.gz", header + row + "20,x\n"), HasSubstr("a.gpu.csv.gz:3: "));
  EXPECT_THAT(complaint("a.gpu.csv.gz", header), HasSubstr("no rows"));
  EXPECT_THAT(complaint("a.gpu.csv.gz", "t_ms\n1\n"), HasSubstr("no column 'gract'"));
  EXPECT_THAT(complaint("a.gpu.csv.gz",
                        header + row + sim::FakeTraceFiles::gpu_row({.t_ms = 5, .gpm = "1.00"})),
              HasSubstr("a.gpu.csv.gz:3: t_ms falls"));
  EXPECT_THAT(
      complaint("a.processes.csv.gz",
                "t_ms,pid,used_mem_b,sm_util,mem_util,enc_util,dec_util\n1,nan,0,0,0,0,0\n"),
      HasSubstr("a.processes.csv.gz:2: pid is not a number"));
  const auto with_cell = [&](const std::string& from, const std::string& to) {
    std::string damaged = row;
    return header + damaged.replace(damaged.find(from), from.size(), to);
  };
  EXPECT_THAT(complaint("a.gpu.csv.gz", with_cell(",1980,", ",-1980,")),
              HasSubstr("a.gpu.csv.gz:2: sm_mhz is below 0"));
  EXPECT_THAT(complaint("a.gpu.csv.gz", with_cell("0x4", "0xffffffffffffffff")),
              HasSubstr("reasons is not a number"));
  for (const char* pid : {"0", "-1", "1.5", "4294967296"}) {
    EXPECT_THAT(complaint("a.processes.csv.gz",
                          "t_ms,pid,used_mem_b,sm_util,mem_util,enc_util,dec_util\n1," +
                              std::string(pid) + ",0,0,0,0,0\n"),
                HasSubstr("a.processes.csv.gz:2: pid is not a pid"));
  }
  EXPECT_THAT(complaint("a.host.csv.gz", "t_ms\n1\n"), HasSubstr("no column"));
  EXPECT_THAT(complaint("a.owners.json", "{"), HasSubstr("a.owners.json"));
}

TEST_F(ImporterTest, WhatNoGpuCouldHaveSaidIsInvalid) {
  files_.write_gpu(
      "a", {{.t_ms = 0, .gpm = "250.00", .util = 250}, {.t_ms = 200, .gpm = "50.00", .util = 100}});
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const auto utilization = points(*view, MetricId::gpu_utilization_ratio);
  ASSERT_EQ(utilization.size(), 2u);
  EXPECT_EQ(utilization[0].state, State::kInvalid);
  EXPECT_EQ(utilization[1].value, 1.0);
  EXPECT_EQ(points(*view, MetricId::gpu_sm_active_ratio).at(0).state, State::kInvalid);
  const std::uint32_t slot = view::gpus(*view).at(0).slot;
  EXPECT_EQ(view->number(slot, MetricId::gpu_rejected_readings_total), 13.0);  // 12 of GPM
}

TEST_F(ImporterTest, TotalsAreThoseThatASamplerWouldHaveKept) {
  std::vector<sim::FakeTraceFiles::Row> rows;
  for (int i = 0; i <= 30; ++i) {
    rows.push_back({.t_ms = 100.0 * i,
                    .gpm = "50.00",
                    .util = i < 10 ? 0 : 80,
                    .used = 100,
                    .energy_mj = 1000 + 200 * (i / 10)});
  }
  files_.write_gpu("a", rows);
  files_.write_processes("a", "0,77,4096,0,0,0,0\n1000,77,4096,0,0,0,0\n");
  ASSERT_TRUE(import({"a"}));
  const auto view = open();
  const std::uint32_t slot = view::gpus(*view).at(0).slot;
  const auto total = [&](MetricId id) { return view->number(slot, id).value_or(-1); };
  EXPECT_NEAR(total(MetricId::gpu_observed_seconds_total), 3.0, 1e-9);
  EXPECT_NEAR(total(MetricId::gpu_busy_seconds_total), 2.0, 1e-9);
  EXPECT_NEAR(total(MetricId::gpu_held_idle_seconds_total), 1.0, 1e-9);
  EXPECT_NEAR(total(MetricId::gpu_energy_accumulated_joules_total), 0.6, 1e-9);
  EXPECT_NEAR(total(MetricId::gpu_energy_integrated_joules_total), 0.2 * 2.9601, 1e-6);
  const auto observed = points(*view, MetricId::gpu_observed_seconds_total);
  ASSERT_EQ(observed.size(), 4u);  // one a second, and the end
  EXPECT_NEAR(observed[0].value, 0.9, 1e-9);
}

TEST_F(ImporterTest, AnEmptyNameOfTheOutputIsRefused) {
  write_small("a");
  const auto summary = import_traces({.stems = {files_.stem("a")}, .output = ""});
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().message, "no output file");
}

TEST_F(ImporterTest, AnUnknownProfileIsRefused) {
  write_small("a");
  const auto summary = import({"a"}, "b200");
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().message, "no profile 'b200'");
  EXPECT_EQ(summary.error().hint, "there are: h200, a100");
}

TEST_F(ImporterTest, TracesAreFoundByStemFileOrFolder) {
  write_small("b");
  write_small("a");
  const auto find = [](const std::string& word) {
    return find_stems({word}).value_or(std::vector<std::string>{});
  };
  EXPECT_THAT(find(files_.stem("a")), ElementsAre(files_.stem("a")));
  EXPECT_THAT(find(files_.stem("a") + ".gpu.csv.gz"), ElementsAre(files_.stem("a")));
  EXPECT_THAT(find(files_.folder()), ElementsAre(files_.stem("a"), files_.stem("b")));
  const auto missing = find_stems({files_.stem("c")});
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, base::Code::kNotFound);
}

}  // namespace
}  // namespace everywatt::importer
