// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/fuzz_target.h"
#include "catalog/catalog.h"
#include "device/nvml/events.h"
#include "device/nvml/fake_driver.h"
#include "device/nvml/gpm.h"
#include "device/nvml/power_samples.h"
#include "device/nvml/processes.h"
#include "device/nvml/source.h"
#include "device/nvml/throughput.h"

namespace everywatt::nvml {
namespace {

using catalog::Lane;
using catalog::Row;
using catalog::Scope;

base::FuzzInput* answers = nullptr;

// Most calls succeed, or little would come past the first of them.
abi::Return return_code() {
  const unsigned code = answers->byte();
  if (code < 192) return abi::Return::kSuccess;
  return static_cast<abi::Return>(code == 255 ? 999 : code - 192);
}

// What an argument points to becomes what the fuzzer says; what it points to as constant, and what
// only the driver can look into, stays.
template <typename Argument>
void answer(Argument argument) {
  if constexpr (std::is_pointer_v<Argument>) {
    using Pointee = std::remove_pointer_t<Argument>;
    if constexpr (std::is_same_v<Pointee, abi::Device> || std::is_same_v<Pointee, abi::GpmSample> ||
                  std::is_same_v<Pointee, abi::EventSet>) {
      if (argument != nullptr) {
        *argument = reinterpret_cast<Pointee>(std::uintptr_t{1} + answers->byte());
      }
    } else if constexpr (std::is_same_v<Pointee, abi::GpmMetricsGet>) {
      for (unsigned i = 0; i < argument->num_metrics; ++i) {
        argument->metrics[i].nvml_return = return_code();
        argument->metrics[i].value = answers->number<double>();
      }
    } else if constexpr (!std::is_const_v<Pointee> && requires { sizeof(Pointee); }) {
      // Text buffers hold more than one, and their last byte is theirs: nothing ends the text.
      const std::size_t size = std::is_same_v<Pointee, char> ? 16 : sizeof(Pointee);
      if (argument != nullptr) answers->fill(argument, size);
    }
  }
}

template <typename Signature>
struct Rubbish;
template <typename... Args>
struct Rubbish<abi::Return(Args...)> {
  static abi::Return call(Args... arguments) {
    (answer(arguments), ...);
    return return_code();
  }
};

abi::Return give_fields(abi::Device, int count, abi::FieldValue* values) {
  for (int i = 0; i < count; ++i) {
    const unsigned asked = values[i].field_id;
    answers->fill(&values[i], sizeof(values[i]));
    if (answers->byte() < 224) values[i].field_id = asked;
    values[i].nvml_return = return_code();
  }
  return return_code();
}

// Fills what there is room for, and says any number.
template <typename Entry>
abi::Return give_list(abi::Device, unsigned* count, Entry* entries) {
  for (unsigned i = 0; entries != nullptr && i < *count && !answers->is_empty(); ++i) {
    answers->fill(&entries[i], sizeof(Entry));
  }
  *count = answers->number<unsigned>();
  return return_code();
}

abi::Return give_utilization(abi::Device device, abi::ProcessUtilizationSample* samples,
                             unsigned* count, unsigned long long) {
  return give_list(device, count, samples);
}

abi::Return give_samples(abi::Device device, abi::Selector, unsigned long long,
                         abi::ValueType* type, unsigned* count, abi::Sample* samples) {
  *type = static_cast<abi::ValueType>(answers->byte() % 8);
  return give_list(device, count, samples);
}

FakeDriver make_driver() {
  FakeDriver driver;
  const auto set = [&driver](const auto& function) {
    using Signature = typename std::remove_cvref_t<decltype(function)>::Type;
    for (const char* name : function.names) {
      if (name != nullptr) driver.set(name, &Rubbish<Signature>::call);
    }
  };
#define CALL(name) set(abi::name);
#include "device/nvml/calls.inc"
#undef CALL
  driver.set("nvmlInit_v2", +[] { return abi::Return::kSuccess; });
  driver.set("nvmlDeviceGetFieldValues", &give_fields);
  driver.set("nvmlDeviceGetProcessUtilization", &give_utilization);
  driver.set("nvmlDeviceGetSamples", &give_samples);
  for (const char* kind : {"Compute", "Graphics", "MPSCompute"}) {
    const std::string name = std::string("nvmlDeviceGet") + kind + "RunningProcesses";
    driver.set(name + "_v3", &give_list<abi::ProcessInfo>);
    driver.set(name + "_v2", &give_list<abi::ProcessInfo>);
    driver.set(name, &give_list<abi::ProcessInfoV1>);
  }
  return driver;
}

// Whatever the driver says: a number in a row lies within its metric's range, and text is clean.
void judge(const Row& row, double limit_before, double limit_now) {
  for (const catalog::MetricId id : catalog::schema(row.scope(), row.lane()).metrics) {
    const catalog::Metric& metric = catalog::metric(id);
    if (metric.type == catalog::Type::kText) {
      CHECK(base::is_clean(row.text(id)));
      continue;
    }
    for (unsigned i = 0; i < metric.instances; ++i) {
      const catalog::Reading reading = row.reading(id, i);
      if (!reading.is_ok()) continue;
      const double value = catalog::as_double(id, reading);
      CHECK(std::isfinite(value));
      CHECK(catalog::is_in_range(metric, value, limit_before) ||
            catalog::is_in_range(metric, value, limit_now));
    }
  }
}

void read_all(Device& device) {
  for (const Lane lane : {Lane::kOnce, Lane::kGauge, Lane::kSlow}) {
    Row row(Scope::kGpu, lane);
    const double limit_before = device.power_limit_max_watts();
    for (const Source& source : sources(lane))
      source.read(device, row);
    judge(row, limit_before, device.power_limit_max_watts());
  }
  const double limit = device.power_limit_max_watts();
  if (auto gpm = Gpm::open(device)) {
    Row row(Scope::kGpu, Lane::kGpm);
    for (std::int64_t now_ns = 1; now_ns < 4; ++now_ns) {
      static_cast<void>(gpm->take(now_ns));
      if (gpm->form(row, Elsewhere::kBusy) == catalog::State::kOk) judge(row, limit, limit);
    }
  }
  static_cast<void>(read_processes(device));
  ProcessSamples process_samples;
  std::vector<ProcessSample> shares;
  PowerSamples power_samples;
  std::vector<PowerSample> powers;
  for (const std::int64_t now_us : {1'000'000, 2'000'000}) {
    static_cast<void>(process_samples.drain(device, now_us, shares));
    static_cast<void>(power_samples.drain(device, now_us, powers));
  }
  static_cast<void>(read_pcie_throughput(device));
}

}  // namespace

// What a driver in any state puts into its answers, call by call.
FUZZ_TARGET(answers) {
  static const FakeDriver driver = make_driver();
  base::FuzzInput input(bytes);
  answers = &input;
  auto library = Library::open(driver.options());
  if (!library) return;
  static_cast<void>(Device::count(**library, {}));
  auto device = Device::open_at(**library, "0000:06:00.0", {});
  if (!device) return;
  CHECK(base::is_clean(device->uuid()));
  read_all(*device);
  if (auto instances = device->mig_instances()) {
    for (Device& instance : instances->named) {
      if (input.is_empty()) break;
      read_all(instance);
    }
  }
  if (auto events = EventSet::open(**library, {})) {
    static_cast<void>(events->watch(*device));
    static_cast<void>(events->wait(0));
  }
}

}  // namespace everywatt::nvml
