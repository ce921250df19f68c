// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "device/nvml/library.h"
#include "device/sim/playhead.h"

namespace everywatt::nvml {

// A test on the simulated driver's library, whose time stands still until the test moves it (unless
// it plays in real time). Our boottime is its played time, counted from kOriginNs.
class SimFixture : public testing::Test {
 public:
  static constexpr std::int64_t kMs = 1'000'000;
  static constexpr std::int64_t kOriginNs = 1'000'000'000'000;

 protected:
  ~SimFixture() override {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }

  // A [[device]] that plays a recorded trace.
  static std::string device(const std::string& trace, const std::string& more = {}) {
    return "[[device]]\ntrace = \"" EVERYWATT_SOURCE_DIR "/traces/" + trace + "\"\n" + more;
  }

  // Writes the scenario; the library plays it from its next start on.
  void play(const std::string& scenario, sim::Pace pace = sim::Pace::kStepped) {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = testing::TempDir() + "everywatt_sim_" + test->test_suite_name() + "_" + test->name();
    std::filesystem::create_directories(folder_);
    const std::string head = folder_ + "/playhead";
    ASSERT_TRUE(sim::Playhead::create(head, pace));
    std::ofstream(folder_ + "/scenario.toml") << "playhead = \"playhead\"\n" << scenario;
    ::setenv("EVERYWATT_SIM", folder_.c_str(), 1);
    playhead_.emplace(*sim::Playhead::open(head));
  }

  void step_to_ms(double ms) {
    playhead_->step_to(static_cast<std::int64_t>(ms * static_cast<double>(kMs)));
  }
  std::int64_t now_ns() const { return kOriginNs + playhead_->now().played_ns; }
  std::int64_t wall_ns() const { return playhead_->now().wall_ns; }
  // Sets the machine's wall clock forward, or back: the driver's stamps follow it.
  void step_wall_clock(std::int64_t ns) {
    const std::int64_t wall_of_start_ns = playhead_->wall_ns(0) + ns;
    std::fstream head(folder_ + "/playhead", std::ios::in | std::ios::out | std::ios::binary);
    head.seekp(40);  // as sim/playhead.h lays it out
    head.write(reinterpret_cast<const char*>(&wall_of_start_ns), sizeof wall_of_start_ns);
  }

  static LibraryOptions library_options() {
    return {.path = EVERYWATT_BUILD_DIR "/libnvidia-ml-sim.so", .resolve = {}};
  }
  std::unique_ptr<Library> open_library() {
    auto library = Library::open(library_options());
    EXPECT_TRUE(library) << library.error().message;
    return library ? std::move(*library) : nullptr;
  }

  const sim::Playhead& playhead() const { return *playhead_; }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  std::optional<sim::Playhead> playhead_;
};

}  // namespace everywatt::nvml
