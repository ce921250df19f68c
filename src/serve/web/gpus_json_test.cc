// SPDX-License-Identifier: Apache-2.0
#include "serve/web/gpus_json.h"

#include <nlohmann/json.hpp>

#include "serve/web/series_json.h"
#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::State;
using nlohmann::json;
using view::kMs;
using view::kSecond;
using view::Machine;

Target target(std::string_view text) {
  return *parse_target(text);
}

json shown(const view::View& view, std::string_view question = "/") {
  return json::parse(format_gpus(view, *parse_gpus_query(target(question)), "a note"));
}

TEST(GpusJson, ShowsEachGpuAsTheFileHasIt) {
  Machine machine({.gpus = 2});
  machine.name_gpu(0, kSecond, "GPU-aaaa", "00000000:06:00.0");
  machine.name_gpu(1, kSecond, "GPU-bbbb", "00000000:07:00.0");
  machine.add_gpu(0, Lane::kGauge, 10 * kSecond, [](Row& row) {
    row.set(MetricId::gpu_utilization_ratio, 0.97);
    row.set(MetricId::gpu_memory_used_bytes, std::uint64_t{85'899'345'921});
    row.set_absent(MetricId::gpu_temperature_celsius, State::kNoPermission);
  });
  const json all = shown(*machine.view(10 * kSecond + 50 * kMs));
  EXPECT_EQ(all["note"], "a note");
  ASSERT_EQ(all["gpus"].size(), 2U);
  const json& gpu = all["gpus"][0];
  EXPECT_EQ(gpu["gpu"], 0);
  EXPECT_FALSE(gpu.contains("mig"));
  EXPECT_EQ(gpu["uuid"], "GPU-aaaa");
  EXPECT_EQ(gpu["name"], "NVIDIA H200");
  EXPECT_EQ(gpu["pci_address"], "00000000:06:00.0");
  EXPECT_EQ(gpu["status"], "ok");
  EXPECT_EQ(gpu["age_seconds"], 0.05);
  const json& readings = gpu["readings"];
  EXPECT_EQ(readings["gpu_utilization_ratio"],
            (json{{"state", "ok"}, {"value", 0.97}, {"unit", "ratio"}, {"age_seconds", 0.05}}));
  EXPECT_EQ(readings["gpu_memory_used_bytes"]["value"], 85'899'345'921);
  EXPECT_EQ(readings["gpu_temperature_celsius"]["state"], "no_permission");
  EXPECT_TRUE(readings["gpu_temperature_celsius"]["value"].is_null());
  EXPECT_EQ(readings["gpu_sm_active_ratio"]["state"], "no_rows");
  EXPECT_EQ(readings["gpu_name"]["value"], "NVIDIA H200");
  EXPECT_TRUE(all["gpus"][1]["age_seconds"].is_null());
  EXPECT_EQ(all["not_ready"][0]["what"], "GPU 1");
}

TEST(GpusJson, ReasonsComeInTheLanguageAskedFor) {
  Machine machine;
  machine.add_gpu(0, Lane::kGauge, kSecond, [](Row& row) {
    row.set_absent(MetricId::gpu_power_watts, State::kNotSupported);
  });
  const auto view = machine.view(kSecond);
  const auto word = [&](std::string_view question) {
    return shown(*view, question)["gpus"][0]["readings"]["gpu_power_watts"]["word"];
  };
  EXPECT_EQ(word("/"), catalog::state_word(State::kNotSupported, catalog::Lang::kEn));
  EXPECT_EQ(word("/?lang=zh"), catalog::state_word(State::kNotSupported, catalog::Lang::kZh));
  EXPECT_EQ(shown(*view, "/?lang=zh")["gpus"][0]["status_text"], "正常");
}

TEST(GpusJson, ALostGpuShowsNoOldNumbers) {
  Machine machine;
  machine.add_power(0, kSecond, 700);
  machine.file().set_status(machine.gpu(), recorder::DeviceStatus::kLost, 2 * kSecond);
  const json gpu = shown(*machine.view(3 * kSecond))["gpus"][0];
  EXPECT_EQ(gpu["status"], "lost");
  EXPECT_EQ(gpu["readings"]["gpu_power_watts"]["state"], "lost");
  EXPECT_TRUE(gpu["readings"]["gpu_power_watts"]["value"].is_null());
}

TEST(GpusJson, OnlyTheMetricsAskedForAreGivenWithAllTheirInstances) {
  Machine machine;
  machine.add_gpu(0, Lane::kSlow, kSecond, [](Row& row) {
    row.set(MetricId::gpu_fan_speed_ratio, 0.3, 0);
    row.set(MetricId::gpu_fan_speed_ratio, 0.5, 1);
  });
  const json readings =
      shown(*machine.view(kSecond), "/?metric=gpu_fan_speed_ratio")["gpus"][0]["readings"];
  EXPECT_EQ(readings.size(), 1U);
  EXPECT_EQ(readings["gpu_fan_speed_ratio"]["value"], (json{{"0", 0.3}, {"1", 0.5}}));
}

TEST(GpusJson, ProcessesHavePidsAndNoNames) {
  Machine machine;
  machine.add_gpu(0, Lane::kProcess, kSecond, [](Row& row) {
    row.set(MetricId::process_index, std::uint64_t{0});
    row.set(MetricId::process_count, std::uint64_t{1});
    row.set(MetricId::process_pid, std::uint64_t{4242});
    row.set(MetricId::process_identity, std::uint64_t{7});
    row.set(MetricId::process_type_mask, std::uint64_t{1});
    row.set(MetricId::process_memory_bytes, std::uint64_t{1'073'741'824});
  });
  machine.add(machine.first(catalog::Scope::kNode), catalog::Scope::kNode, Lane::kIdentity, kSecond,
              [](Row& row) {
                row.set(MetricId::identity_key, std::uint64_t{7});
                row.set(MetricId::identity_pid, std::uint64_t{4242});
                row.set_text(MetricId::identity_user, "alice");
                row.set_text(MetricId::identity_command, "secret_train.py");
              });
  const auto view = machine.view(kSecond);
  const json processes = shown(*view)["gpus"][0]["processes"];
  EXPECT_EQ(processes["list"], (json{{{"pid", 4242},
                                      {"type", "compute"},
                                      {"memory_bytes", 1'073'741'824},
                                      {"sm_ratio", nullptr}}}));
  const std::string text = format_gpus(*view, *parse_gpus_query(target("/")), "");
  EXPECT_EQ(text.find("alice"), std::string::npos);
  EXPECT_EQ(text.find("secret_train"), std::string::npos);
}

TEST(GpusJson, BadQuestionsAreRefused) {
  for (const char* question :
       {"/?metric=", "/?metric=gpu_powr_watts", "/?metric=process_pid",
        "/?metric=host_memory_total_bytes", "/?lang=fr", "/?gpu=0", "/?lang=en&lang=zh"}) {
    EXPECT_FALSE(parse_gpus_query(target(question))) << question;
  }
}

TEST(SeriesJson, StepsAndRowsEqualTheFile) {
  Machine machine;
  machine.name_gpu(0, kSecond, "GPU-aaaa", "00000000:06:00.0");
  for (int row = 1; row <= 20; ++row)
    machine.add_power(0, 10 * kSecond + row * 100 * kMs, 600 + row);
  const auto view = machine.view(12 * kSecond);
  const auto ask = [&](std::string_view question) {
    return json::parse(*answer_series(*view, target(question), ""));
  };
  const json rows = ask("/?metric=gpu_power_watts&gpu=0&since=1s&step=0");
  EXPECT_EQ(rows["metric"], "gpu_power_watts");
  EXPECT_EQ(rows["unit"], "watts");
  EXPECT_EQ(rows["kind"], "gauge");
  EXPECT_EQ(rows["uuid"], "GPU-aaaa");
  ASSERT_EQ(rows["points"].size(), 10U);
  EXPECT_EQ(rows["points"][0][1], 611);
  EXPECT_EQ(rows["points"][9],
            (json{static_cast<double>(view->wall_ns(12 * kSecond)) / 1e9, 620.0}));
  const json steps = ask("/?metric=DCGM_FI_DEV_POWER_USAGE&since=10s&step=1s");
  EXPECT_EQ(steps["step_seconds"], 1.0);
  ASSERT_GE(steps["points"].size(), 2U);
  for (const json& point : steps["points"]) {
    const double seconds = point[0].get<double>();
    EXPECT_NEAR(seconds, std::round(seconds), 1e-6);  // people's whole seconds
  }
}

TEST(SeriesJson, AnAbsenceHasItsReason) {
  Machine machine;
  machine.add_gpu(0, Lane::kGauge, kSecond,
                  [](Row& row) { row.set_absent(MetricId::gpu_power_watts, State::kLost); });
  const auto view = machine.view(kSecond);
  const json series =
      json::parse(*answer_series(*view, target("/?metric=gpu_power_watts&step=0"), ""));
  ASSERT_EQ(series["points"].size(), 1U);
  EXPECT_TRUE(series["points"][0][1].is_null());
  EXPECT_EQ(series["points"][0][2], "lost");
}

TEST(SeriesJson, BadQuestionsAreRefusedWithWhatIsWrong) {
  Machine machine({.gpus = 2});
  machine.add_power(0, kSecond, 700);
  const auto view = machine.view(kSecond);
  const auto complaint = [&](std::string_view question) {
    const auto answer = answer_series(*view, target(question), "");
    return answer ? "" : answer.error().message;
  };
  EXPECT_EQ(complaint("/"), "metric is missing");
  EXPECT_EQ(complaint("/?metric=gpu_power_watts"), "gpu is missing: there are 2");
  EXPECT_EQ(complaint("/?metric=gpu_power_watts&gpu=0&since=yesterday"),
            "since is a duration such as 10m or 0.5s, not 'yesterday'");
  EXPECT_EQ(complaint("/?metric=gpu_power_watts&gpu=0&step=fast"),
            "step is a duration such as 10m or 0.5s, not 'fast'");
  EXPECT_EQ(complaint("/?metric=gpu_power_watts&gpu=0&step=0.0001"), "step is 0 or at least 1ms");
  EXPECT_EQ(complaint("/?metric=gpu_power_watts&gpu=0&instance=3"),
            "gpu_power_watts has no instance '3'");
  EXPECT_EQ(complaint("/?metric=gpu_name&gpu=0"), "gpu_name is no series of numbers");
  EXPECT_NE(complaint("/?metric=gpu_power_watts&gpu=7"), "");
  EXPECT_NE(complaint("/?metric=gpu_powr&gpu=0"), "");
  EXPECT_NE(complaint("/?metric=gpu_power_watts&gpu=0&until=1s"), "");
  EXPECT_EQ(complaint("/?metric=gpu_power_watts&gpu=0&since=100d"), "");
}

}  // namespace
}  // namespace everywatt::web
