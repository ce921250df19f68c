// SPDX-License-Identifier: Apache-2.0
//
// Issue P014: one call that the driver refuses must not cost more than its own metrics. Each
// function of the driver in turn is refused in each way, and is missing.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "device/nvml/source.h"
#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using nvml::Call;
using nvml::abi::Return;

Return refusal = Return::kNotSupported;

// A function of any of the driver's types that refuses.
template <typename Signature>
struct Refuser;
template <typename... Args>
struct Refuser<Return(Args...)> {
  static Return refuse(Args...) { return refusal; }
};

struct Function {
  Call call;
  const char* const* names;
  void* refuser;
};
constexpr std::size_t kNames = 3;

std::vector<Function> functions() {
  return {
#define CALL(name)                    \
  {Call::name, nvml::abi::name.names, \
   reinterpret_cast<void*>(           \
       &Refuser<std::remove_cvref_t<decltype(nvml::abi::name)>::Type>::refuse)},
#include "device/nvml/calls.inc"
#undef CALL
  };
}

// Without these there is no GPU to read.
bool is_needed(Call call) {
  constexpr std::array kNeeded = {Call::kInit, Call::kShutdown, Call::kDeviceGetHandleByPciBusId,
                                  Call::kDeviceGetUuid};
  return std::ranges::find(kNeeded, call) != kNeeded.end();
}

class MissingFunctionsTest : public LanesFixture {
 protected:
  void SetUp() override {
    begin(device("gemm"), 1);
    step_to_ms(20'000);
    file_of_sim_ = ::dlopen(library_options().path.c_str(), RTLD_LAZY);
    ASSERT_NE(file_of_sim_, nullptr);
    whole_ = read_with({.call = Call::kInit, .names = nullptr, .refuser = nullptr});
    ASSERT_GT(whole_.size(), 100u);
  }
  void TearDown() override { ::dlclose(file_of_sim_); }

  // The metrics that have a value when `refused` is not there, or refuses.
  std::set<MetricId> read_with(const Function& refused) {
    nvml::LibraryOptions options{.path = "the simulation", .resolve = {}};
    options.resolve = [&refused, this](const char* name) -> void* {
      for (std::size_t i = 0; refused.names != nullptr && i < kNames; ++i) {
        if (refused.names[i] == nullptr || std::strcmp(refused.names[i], name) != 0) continue;
        return refused.refuser;
      }
      return ::dlsym(file_of_sim_, name);
    };
    auto library = nvml::Library::open(options);
    EXPECT_TRUE(library);
    make_file(1);
    EventLog events(*file_->writer(file_->slots(catalog::Scope::kPart)[1], Lane::kEvent),
                    options_.clock, options_.wall_clock);
    TallyBook tallies;
    const Shared shared{options_, *file_, events, *allowance_, tallies};
    auto gpu = GpuWatch::open(shared, {.pci_address = address(0), .number = 0, .slot = slot(0)});
    (*gpu)->attach(**library, nullptr);
    (*gpu)->read_all();
    step_to_ms(20'200);
    (*gpu)->take_gpm();
    (*gpu)->detach();
    step_to_ms(20'000);
    return values();
  }
  std::set<MetricId> values() const {
    std::set<MetricId> found;
    for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
      for (const MetricId id :
           catalog::schema(catalog::Scope::kGpu, static_cast<Lane>(lane)).metrics) {
        const unsigned instances = catalog::metric(id).instances;
        for (unsigned i = 0; i < instances; ++i) {
          if (latest(0, id, i).is_ok()) found.insert(id);
        }
      }
    }
    return found;
  }
  // Metrics of sums may be missing where their source is; all others by the source that the call
  // feeds.
  void expect_small_loss(const Function& function, const char* how) {
    const std::set<MetricId> left = read_with(function);
    std::vector<MetricId> lost;
    std::ranges::set_difference(whole_, left, std::back_inserter(lost));
    std::erase_if(lost, [](MetricId id) { return catalog::metric(id).lane == Lane::kTotals; });
    std::set<const nvml::Source*> sources;
    std::set<Lane> other_lanes;
    for (const MetricId id : lost) {
      const Lane lane = catalog::metric(id).lane;
      bool has_source = false;
      for (const nvml::Source& source : nvml::sources(lane)) {
        if (std::ranges::find(source.metrics, id) == source.metrics.end()) continue;
        sources.insert(&source);
        has_source = true;
      }
      if (!has_source) other_lanes.insert(lane);
    }
    // No call is asked for more: four clocks, four thresholds, four counts of errors.
    EXPECT_LE(sources.size(), 4u) << nvml::call_name(function.call) << " " << how;
    EXPECT_LE(other_lanes.size(), 1u) << nvml::call_name(function.call) << " " << how;
  }

  void* file_of_sim_ = nullptr;
  std::set<MetricId> whole_;
};

TEST_F(MissingFunctionsTest, MissingFunctionCostsItsOwnMetrics) {
  for (Function function : functions()) {
    if (is_needed(function.call)) continue;
    function.refuser = nullptr;
    expect_small_loss(function, "is missing");
  }
}

TEST_F(MissingFunctionsTest, RefusedCallCostsItsOwnMetrics) {
  for (const Return code : {Return::kNotSupported, Return::kNoPermission, Return::kUnknown}) {
    refusal = code;
    for (const Function& function : functions()) {
      if (!is_needed(function.call)) expect_small_loss(function, "is refused");
    }
  }
}

}  // namespace
}  // namespace everywatt::sampler
