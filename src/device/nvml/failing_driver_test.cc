// SPDX-License-Identifier: Apache-2.0
//
// Every call of every function of the driver fails in turn, with each code, and lies in turn. Only
// what comes from it is absent, with the reason; the next round is as if nothing had been.
#include "device/nvml/failing_driver.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "device/nvml/events.h"
#include "device/nvml/gpm.h"
#include "device/nvml/power_samples.h"
#include "device/nvml/processes.h"
#include "device/nvml/sim_fixture.h"
#include "device/nvml/source.h"
#include "device/nvml/throughput.h"

namespace everywatt::nvml {
namespace {

using abi::Return;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

// One thing that a round found out, and in which of its steps.
struct Cell {
  unsigned step = 0;
  std::string_view name;
  unsigned instance = 0;
  State state{};
  std::uint64_t bits = 0;
  std::string text;

  // In whatever step.
  bool operator==(const Cell& other) const {
    return state == other.state && bits == other.bits && text == other.text;
  }
};

// Steps of begin().
constexpr unsigned kListing = 1;  // of MIG instances
constexpr unsigned kGpmOfGpu = 2;
constexpr unsigned kGpmOfInstance = 3;
constexpr unsigned kEvents = 4;
constexpr unsigned kLastOfBegin = 5;
unsigned step_now = 0;
constexpr unsigned kNoStep = ~0U;
unsigned step_hit = kNoStep;

// A GPU and its MIG instance, and all that is read of them.
class Round {
 public:
  explicit Round(Library& library, CallTally& tally)
      : library_(library), trace_{.call = &breadcrumb_, .tally = &tally} {}

  // The first step: what must be there for anything else.
  State begin(std::int64_t now_ns) {
    step_now = 0;
    auto opened = Device::open_at(library_, "0000:01:00.0", trace_);
    if (!opened) return opened.error();
    gpu_.emplace(std::move(*opened));
    ++step_now;
    auto instances = gpu_->mig_instances();
    if (instances && !instances->named.empty()) {
      instance_.emplace(std::move(instances->named[0]));
    }
    ++step_now;
    open_gpm(gpu_, gpu_gpm_, gpm_state_, now_ns);
    ++step_now;
    open_gpm(instance_, instance_gpm_, instance_gpm_state_, now_ns);
    ++step_now;
    auto events = EventSet::open(library_, trace_);
    events_state_ = events ? State::kOk : events.error();
    if (events) events_.emplace(std::move(*events));
    ++step_now;
    watch_state_ = events_ ? events_->watch(*gpu_) : events_state_;
    first_step_ = ++step_now;
    return State::kOk;
  }

  std::vector<Cell> read(std::int64_t now_ns, std::int64_t wall_ns) {
    cells_.clear();
    step_now = 0;
    add("uuid", State::kOk, 0, gpu_->uuid());
    add("index", State::kOk, gpu_->index());
    step_now = kListing;
    add("instances", State::kOk, instance_ ? 1 : 0, instance_ ? instance_->uuid() : "");
    step_now = kEvents;
    add("events", events_state_);
    if (events_) step_now = kLastOfBegin;
    add("watch", watch_state_);
    step_now = first_step_;
    read_device(gpu_, gpu_gpm_, gpm_state_, kGpmOfGpu, now_ns);
    read_device(instance_, instance_gpm_, instance_gpm_state_, kGpmOfInstance, now_ns);
    read_lists(wall_ns);
    return std::move(cells_);
  }
  std::uint64_t breadcrumb() const { return breadcrumb_; }
  double power_limit_max_watts() const { return gpu_->power_limit_max_watts(); }
  bool has_instance() const { return instance_.has_value(); }

 private:
  void open_gpm(std::optional<Device>& device, std::optional<Gpm>& gpm, State& state,
                std::int64_t now_ns) {
    if (!device) return;
    auto opened = Gpm::open(*device);
    state = opened ? State::kOk : opened.error();
    if (!opened) return;
    gpm.emplace(std::move(*opened));
    state = gpm->take(now_ns);
  }
  void read_device(std::optional<Device>& device, std::optional<Gpm>& gpm, State& state,
                   unsigned open_step, std::int64_t now_ns) {
    for (const Lane lane : {Lane::kGauge, Lane::kSlow, Lane::kOnce}) {
      Row row(Scope::kGpu, lane);
      for (const Source& source : sources(lane)) {
        if (device) source.read(*device, row);
        add_row(row, source.metrics);
        ++step_now;
      }
    }
    Row row(Scope::kGpu, Lane::kGpm);
    if (gpm) {
      state = gpm->take(now_ns);
      if (state == State::kOk) state = gpm->form(row, Elsewhere::kUnknown);
    }
    if (state != State::kOk) row.set_all_absent(state);
    const unsigned step = step_now;
    if (step_hit == open_step) step_now = open_step;
    add("gpm", state);
    for (const catalog::Metric& metric : catalog::metrics()) {
      if (metric.scope != Scope::kGpu || metric.lane != Lane::kGpm) continue;
      const std::array one = {*catalog::metric_by_name(metric.name)};
      add_row(row, one);
    }
    step_now = step + 1;
  }
  void read_lists(std::int64_t wall_ns) {
    const auto processes = read_processes(*gpu_);
    Row row(Scope::kGpu, Lane::kProcess);
    std::string listing;
    for (const Process& process : processes.value_or(std::vector<Process>())) {
      gpu_->put(row, MetricId::process_memory_bytes, Return::kSuccess,
                process.memory_bytes.value_or(~0ull));
      listing += fmt::format("{} {} {:#x}, ", process.pid, process.type_mask,
                             row.reading(MetricId::process_memory_bytes).bits);
    }
    add("processes", processes ? State::kOk : processes.error(), 0, listing);
    ++step_now;
    std::vector<ProcessSample> shares;
    const State shares_state = shares_.drain(*gpu_, wall_ns / 1000, shares);
    add("shares", shares_state);
    ++step_now;
    std::vector<PowerSample> power;
    const State power_state = power_.drain(*gpu_, wall_ns / 1000, power);
    Row sample(Scope::kGpu, Lane::kPower);
    if (!power.empty()) {
      gpu_->put_value(sample, MetricId::gpu_power_sample_watts, power.back().watts);
    }
    add("power", power_state, sample.reading(MetricId::gpu_power_sample_watts).bits);
    ++step_now;
    const PcieThroughput throughput = read_pcie_throughput(*gpu_);
    add("transmit", throughput.transmit.state, throughput.transmit.bits);
    add("receive", throughput.receive.state, throughput.receive.bits);
    ++step_now;
    const auto event = events_ ? events_->wait(0) : std::unexpected(events_state_);
    if (step_hit == kEvents) step_now = kEvents;
    add("event", event ? State::kOk : event.error(), event && *event ? 1 : 0);
  }
  void add_row(const Row& row, std::span<const MetricId> metrics) {
    for (const MetricId id : metrics) {
      const catalog::Metric& metric = catalog::metric(id);
      for (unsigned i = 0; i < metric.instances; ++i) {
        const bool is_text = metric.type == catalog::Type::kText;
        cells_.push_back({.step = step_now,
                          .name = metric.name,
                          .instance = i,
                          .state = row.state(id, i),
                          .bits = is_text ? 0 : row.reading(id, i).bits,
                          .text = is_text ? std::string(row.text(id, i)) : ""});
      }
    }
  }
  void add(std::string_view name, State state, std::uint64_t bits = 0, std::string text = {}) {
    cells_.push_back({step_now, name, 0, state, bits, std::move(text)});
  }

  Library& library_;
  std::atomic<std::uint64_t> breadcrumb_{0};
  CallTrace trace_;
  std::optional<Device> gpu_;
  std::optional<Device> instance_;
  std::optional<Gpm> gpu_gpm_;
  std::optional<Gpm> instance_gpm_;
  State gpm_state_ = State::kNotRead;
  State instance_gpm_state_ = State::kNotRead;
  std::optional<EventSet> events_;
  State events_state_{};
  State watch_state_{};
  unsigned first_step_ = 0;
  ProcessSamples shares_;
  PowerSamples power_;
  std::vector<Cell> cells_;
};

class FailingDriverTest : public SimFixture {
 protected:
  // Two GPUs with NVLink, processes, and something to see in all lanes.
  void SetUp() override {
    play(device("gemm") + device("gemm"));
    auto library =
        Library::open(FailingDriver::options(EVERYWATT_BUILD_DIR "/libnvidia-ml-sim.so"), {});
    ASSERT_TRUE(library) << library.error().message;
    library_ = std::move(*library);
    FailingDriver::on_hit = [] { step_hit = step_now; };
  }

  struct Seen {
    bool has_instance = false;
    State begun{};
    unsigned step_hit = kNoStep;
    bool was_hit = false;
    std::vector<Cell> first;   // while something misbehaves
    std::vector<Cell> second;  // after it
    double power_limit_max_watts = 0;
  };
  Seen run(const Misbehaviour& misbehaviour) {
    Seen seen;
    step_hit = kNoStep;
    FailingDriver::expect(misbehaviour);
    const int alive_before = FailingDriver::things_alive();
    {
      Round round(*library_, tally_);
      step_to_ms(20'000);
      seen.begun = round.begin(now_ns());
      if (seen.begun == State::kOk) {
        step_to_ms(21'000);
        seen.first = round.read(now_ns(), wall_ns());
        seen.was_hit = FailingDriver::was_hit();
        seen.step_hit = step_hit;
        seen.has_instance = round.has_instance();
        FailingDriver::expect({});
        // What could not be opened is opened again by who wants it.
        const bool is_open = step_hit > kLastOfBegin;
        step_hit = kNoStep;
        seen.second = is_open ? read_second(round) : read_afresh();
        seen.power_limit_max_watts = round.power_limit_max_watts();
      }
      EXPECT_EQ(round.breadcrumb(), 0U);
    }
    seen.was_hit = seen.was_hit || FailingDriver::was_hit();
    EXPECT_EQ(FailingDriver::things_alive(), alive_before);
    return seen;
  }

  std::vector<Cell> read_second(Round& round) {
    step_to_ms(31'000);
    return round.read(now_ns(), wall_ns());
  }
  std::vector<Cell> read_afresh() {
    Round next(*library_, tally_);
    EXPECT_EQ(next.begin(now_ns()), State::kOk);
    return read_second(next);
  }

  CallTally tally_;
  std::unique_ptr<Library> library_;
};

// Absent, or a number that can be, or text that harms no terminal.
bool is_possible(const Cell& cell, double power_limit_max_watts) {
  if (cell.state != State::kOk) return true;
  const bool is_plain = std::ranges::all_of(
      cell.text, [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 0x7f; });
  const auto id = catalog::metric_by_name(cell.name);
  if (!id || catalog::metric(*id).type == catalog::Type::kText) return is_plain;
  const double value = catalog::as_double(*id, {.state = State::kOk, .bits = cell.bits});
  return catalog::is_in_range(catalog::metric(*id), value, power_limit_max_watts);
}

constexpr Return kCodes[] = {
    Return::kUninitialized,
    Return::kInvalidArgument,
    Return::kNotSupported,
    Return::kNoPermission,
    Return::kAlreadyInitialized,
    Return::kNotFound,
    Return::kInsufficientSize,
    Return::kInsufficientPower,
    Return::kDriverNotLoaded,
    Return::kTimeout,
    Return::kIrqIssue,
    Return::kLibraryNotFound,
    Return::kFunctionNotFound,
    Return::kCorruptedInforom,
    Return::kGpuIsLost,
    Return::kResetRequired,
    Return::kOperatingSystem,
    Return::kLibRmVersionMismatch,
    Return::kInUse,
    Return::kMemory,
    Return::kNoData,
    Return::kVgpuEccNotSupported,
    Return::kInsufficientResources,
    Return::kFreqNotSupported,
    Return::kArgumentVersionMismatch,
    Return::kDeprecated,
    Return::kNotReady,
    Return::kGpuNotFound,
    Return::kInvalidState,
    Return::kResetTypeNotSupported,
    Return::kUnknown,
    Return{31},
};

// What a refusal of a call leads to where that is not the absence, for this reason, of what comes
// from the call.
struct Exception {
  Call call;
  bool (*is_meant)(const Misbehaviour& how, const Cell& cell);
  const char* why;
};
bool is_another_way_to_the_value(const Misbehaviour& how, const Cell& cell) {
  return state_of(how.code) == State::kNotSupported && cell.state == State::kOk;
}
bool is_no_instance(const Misbehaviour&, const Cell& cell) {
  return cell.name == "instances" && cell.text.empty();
}
bool has_no_window(const Misbehaviour& how, const Cell& cell) {
  return how.nth == 1 && cell.state == State::kNoNewValue;
}
constexpr Exception kExceptions[] = {
    {Call::kDeviceGetMemoryInfoV2, is_another_way_to_the_value,
     "the old call counts the driver's own memory as used"},
    {Call::kDeviceGetComputeRunningProcesses,
     [](const Misbehaviour&, const Cell& cell) {
       return cell.name == "processes" && cell.state == State::kOk;
     },
     "a list that is empty or does not exist leaves the others"},
    {Call::kDeviceGetRetiredPagesV2,
     [](const Misbehaviour& how, const Cell& cell) {
       return how.code == Return::kInsufficientSize && cell.state == State::kOk;
     },
     "no room was given, so this is the number"},
    {Call::kDeviceGetMigMode, is_no_instance, "not listed, and listed the next time"},
    {Call::kDeviceGetMaxMigDeviceCount, is_no_instance, "the same"},
    {Call::kDeviceGetMigDeviceHandleByIndex, is_no_instance, "the same"},
    {Call::kDeviceGetGpuInstanceId, is_no_instance, "the same"},
    {Call::kDeviceGetUuid, is_no_instance, "the same"},
    {Call::kDeviceGetUuid,
     [](const Misbehaviour& how, const Cell& cell) {
       return how.garbage == 'A' && cell.name == "gpu_mig_parent_uuid";
     },
     "it looks like one"},
    {Call::kGpmQueryDeviceSupport,
     [](const Misbehaviour& how, const Cell& cell) {
       return state_of(how.code) == State::kNotSupported && cell.name == "gpu_gpm_supported";
     },
     "that is the answer to the question"},
    {Call::kDeviceGetGpuInstanceId,
     [](const Misbehaviour& how, const Cell& cell) {
       return how.garbage >= 0 && cell.state == State::kNotSupported;
     },
     "a number of no instance has no performance counters"},
    {Call::kGpmSampleGet, has_no_window, "the sample that should have opened the window"},
    {Call::kGpmMigSampleGet, has_no_window, "the same"},
};

bool is_excepted(const Misbehaviour& how, const Cell& cell) {
  return std::ranges::any_of(kExceptions, [&](const Exception& one) {
    return one.call == how.call && one.is_meant(how, cell);
  });
}

// Each line once, with what it was first seen with: one bug shows in a thousand rounds.
class Complaints {
 public:
  void add(const Misbehaviour& how, std::string_view when, const Cell& cell, const Cell& healthy) {
    const auto line =
        fmt::format("{} {} step {} {} {} instead of {} {}", call_name(how.call), when, cell.step,
                    cell.name, catalog::state_name(cell.state), catalog::state_name(healthy.state),
                    cell.state == healthy.state ? "(another value)" : "");
    const auto [it, is_new] = lines_.try_emplace(line);
    it->second.push_back(
        fmt::format("{}:{}:{}", how.nth, static_cast<unsigned>(how.code), how.garbage));
  }
  ~Complaints() {
    for (const auto& [line, where] : lines_) {
      ADD_FAILURE() << line << " at " << where.size() << ", first " << where.front() << " last "
                    << where.back();
    }
  }

 private:
  std::map<std::string, std::vector<std::string>> lines_;
};

TEST_F(FailingDriverTest, ACallThatFailsCostsWhatComesFromItAndNoMore) {
  const Seen healthy = run({});
  ASSERT_EQ(healthy.begun, State::kOk);
  Complaints complaints;
  unsigned rounds = 0;
  for (unsigned number = 0; number < kCallCount; ++number) {
    for (const Return code : kCodes) {
      for (Misbehaviour how{.call = static_cast<Call>(number), .nth = 1, .code = code};;
           ++how.nth) {
        const Seen seen = run(how);
        if (!seen.was_hit) break;
        ++rounds;
        if (seen.begun != State::kOk) {
          EXPECT_EQ(step_hit, 0U);
          const bool is_off_the_bus =
              how.call == Call::kDeviceGetHandleByPciBusId && code == Return::kNotFound;
          EXPECT_EQ(seen.begun, is_off_the_bus ? State::kLost : state_of(code));
          continue;
        }
        ASSERT_EQ(seen.first.size(), healthy.first.size());
        ASSERT_EQ(seen.second.size(), healthy.second.size());
        for (std::size_t i = 0; i < healthy.first.size(); ++i) {
          const Cell& cell = seen.first[i];
          bool is_meant = cell.step == seen.step_hit && cell.state == state_of(code);
          // An instance that could not be opened is looked for again by who lists them.
          if (!seen.has_instance)
            is_meant |= seen.step_hit == kListing && cell.state == State::kNotRead;
          if (cell == healthy.first[i] || is_meant || is_excepted(how, cell)) continue;
          complaints.add(how, "first", cell, healthy.first[i]);
        }
        for (std::size_t i = 0; i < healthy.second.size(); ++i) {
          const Cell& cell = seen.second[i];
          if (cell.state == healthy.second[i].state) continue;
          complaints.add(how, "second", cell, healthy.second[i]);
        }
      }
    }
  }
  EXPECT_GT(rounds, 8'000U);
}

TEST_F(FailingDriverTest, ACallThatLiesIsNotBelievedWhatCannotBe) {
  const Seen healthy = run({});
  ASSERT_EQ(healthy.begun, State::kOk);
  Complaints complaints;
  for (unsigned number = 0; number < kCallCount; ++number) {
    for (const int garbage : {0x00, 0xff, 0x7f, 0x80, 0x41, 0x1b}) {
      for (Misbehaviour how{.call = static_cast<Call>(number), .nth = 1, .garbage = garbage};;
           ++how.nth) {
        const Seen seen = run(how);
        if (!seen.was_hit) break;
        if (seen.begun != State::kOk) {
          EXPECT_EQ(seen.begun, State::kInvalid) << call_name(how.call);
          continue;
        }
        ASSERT_EQ(seen.first.size(), healthy.first.size()) << call_name(how.call);
        for (std::size_t i = 0; i < healthy.first.size(); ++i) {
          const Cell& cell = seen.first[i];
          if (cell == healthy.first[i] || is_excepted(how, cell)) continue;
          if (!seen.has_instance && cell.state == State::kNotRead) continue;
          if (cell.step != seen.step_hit || !is_possible(cell, seen.power_limit_max_watts)) {
            complaints.add(how, "first", cell, healthy.first[i]);
          }
        }
        for (std::size_t i = 0; i < healthy.second.size() && i < seen.second.size(); ++i) {
          const Cell& cell = seen.second[i];
          if (cell.state == healthy.second[i].state) continue;
          complaints.add(how, "second", cell, healthy.second[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace everywatt::nvml
