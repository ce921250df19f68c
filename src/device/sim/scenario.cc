// SPDX-License-Identifier: Apache-2.0
#include "device/sim/scenario.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "device/sim/mig_layout.h"
#include "device/sim/playhead.h"
#include "device/sim/return_names.h"
#include "device/sim/scenario_keys.h"

namespace everywatt::sim {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
// Each has a PCI bus of its own, counted from 1.
constexpr std::size_t kMaxDevices = 254;

// One "key = value" line.
struct Line {
  std::string_view key;
  std::string_view value;  // without quotes
  bool was_quoted = false;
};

// The sections that lie in files of their own.
constexpr std::pair<std::string_view, BeginSection> kSections[] = {
    {"order", begin_order},   {"library", begin_library},
    {"driver", begin_driver}, {"kernel_line", begin_kernel_line},
    {"nvlink", begin_nvlink}, {"mig", begin_mig},
};

class Parser {
 public:
  Parser(const std::string& folder, const std::string& name) : folder_(folder), name_(name) {
    keys_ = {{"playhead", path(scenario_.playhead)},
             {"driver_version", text(scenario_.driver_version)},
             {"nvml_version", text(scenario_.nvml_version)},
             {"cuda_version", whole(scenario_.cuda_version)}};
  }

  base::Result<Scenario> parse(std::string_view content) {
    for (const std::string_view line : base::split(content, '\n')) {
      ++line_;
      if (Problem problem = parse_line(base::trim(line))) return fail(*problem);
    }
    if (Problem problem = end_section()) return fail(*problem);
    if (scenario_.devices.empty()) return fail("no [[device]]");
    if (scenario_.devices.size() > kMaxDevices) return fail("more than 254 [[device]]");
    if (scenario_.faults.size() > PlayheadWords::kMaxFaults) return fail("more than 64 [[fault]]");
    return std::move(scenario_);
  }

 private:
  Problem parse_line(std::string_view line) {
    if (line.empty() || line.starts_with('#')) return std::nullopt;
    if (line.starts_with("[[") && line.ends_with("]]")) {
      return begin_section(line.substr(2, line.size() - 4));
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return "neither 'key = value' nor '[[section]]'";
    const std::string_view key = base::trim(line.substr(0, equals));
    std::string_view value = base::trim(line.substr(equals + 1));
    if (value.starts_with('"')) {
      const std::size_t end = value.find('"', 1);
      if (end == std::string_view::npos) return "a string without its closing quote";
      value = value.substr(1, end - 1);
    } else {
      value = base::trim(value.substr(0, value.find('#')));
    }
    const auto setter = keys_.find(key);
    if (setter == keys_.end()) return "no key '" + std::string(key) + "' here";
    if (Problem problem = setter->second(value)) return std::string(key) + ": " + *problem;
    std::erase(required_, key);
    return std::nullopt;
  }

  // What the section that ends here lacks.
  Problem end_section() const {
    if (required_.empty()) return std::nullopt;
    return "the section before has no '" + std::string(required_.front()) + "'";
  }

  Problem begin_section(std::string_view section) {
    if (Problem problem = end_section()) return problem;
    keys_.clear();
    if (section == "device") return begin_device();
    if (section == "fault") return begin_fault();
    if (section == "event") return begin_event();
    if (section == "override") return begin_override();
    if (section == "process") return begin_process();
    for (const auto& [name, begin] : kSections) {
      if (name != section) continue;
      Section begun = begin(scenario_);
      keys_ = std::move(begun.keys);
      required_ = std::move(begun.required);
      if (begun.line) *begun.line = line_;
      return std::nullopt;
    }
    return "no section '" + std::string(section) + "'";
  }

  Problem begin_device() {
    DeviceEntry& device = scenario_.devices.emplace_back();
    keys_ = {{"trace", path(device.trace)},
             {"profile", one_of(device.profile, {"h200", "h100", "a100", "a100-40gb"})},
             {"uuid", text(device.uuid)},
             {"reports_buffer_size", truth(device.reports_buffer_size)},
             {"growing_lists", whole(device.growing_lists)},
             {"present_from_ms", milliseconds(device.present.from_ns)},
             {"present_until_ms", milliseconds(device.present.until_ns)},
             {"start_ms", loop_time(device, &Loop::start_ns)},
             {"loop_begin_ms", loop_time(device, &Loop::begin_ns)},
             {"loop_end_ms", loop_time(device, &Loop::end_ns)}};
    return std::nullopt;
  }

  Problem begin_fault() {
    FaultEntry& fault = scenario_.faults.emplace_back();
    keys_ = {{"function", function(fault.function)},
             {"gpu", which(fault.gpu)},
             {"times", whole(fault.times, 1)},
             {"delay_ms", milliseconds(fault.delay_ns)}};
    keys_["return"] = [&fault](std::string_view value) -> Problem {
      fault.return_code = parse_return(value);
      if (!fault.return_code) return "no return code '" + std::string(value) + "'";
      return std::nullopt;
    };
    keys_["hangs"] = [&fault](std::string_view value) -> Problem {
      const std::optional<bool> hangs = parse_truth(value);
      if (!hangs) return kNoTruth;
      if (*hangs) fault.delay_ns = kForever;
      return std::nullopt;
    };
    keys_["signals_masked"] = truth(fault.signals_masked);
    keys_["crash"] = truth(fault.crash);
    keys_["garbage"] = word<std::optional<Garbage>>(fault.garbage, {{"ones", Garbage::kOnes},
                                                                    {"zeros", Garbage::kZeros},
                                                                    {"random", Garbage::kRandom},
                                                                    {"nan", Garbage::kNan},
                                                                    {"huge", Garbage::kHuge},
                                                                    {"text", Garbage::kText}});
    required_ = {"function"};
    add_span(keys_, fault.span);
    return std::nullopt;
  }

  Problem begin_event() {
    EventEntry& event = scenario_.events.emplace_back();
    keys_ = {{"gpu", which(event.gpu)},     {"at_ms", milliseconds(event.at_ns)},
             {"type", bits(event.type)},    {"number", bits(event.number)},
             {"pid", whole(event.pid, 1)},  {"process", text(event.process)},
             {"detail", text(event.detail)}};
    keys_["xid"] = [&event](std::string_view value) -> Problem {
      event.type = 0x8;
      return bits(event.number)(value);
    };
    return std::nullopt;
  }

  Problem begin_override() {
    OverrideEntry& entry = scenario_.overrides.emplace_back();
    constexpr auto kAny = std::numeric_limits<std::int64_t>::min();
    keys_ = {{"gpu", which(entry.gpu)},
             {"value", whole(entry.value, kAny)},
             {"per_second", whole(entry.per_second, kAny)}};
    keys_["reading"] = [&entry](std::string_view value) -> Problem {
      const std::optional<Column> column = column_by_name(value);
      if (!column) return "no reading '" + std::string(value) + "'";
      entry.column = *column;
      return std::nullopt;
    };
    add_span(keys_, entry.span);
    required_ = {"reading", "value"};
    return std::nullopt;
  }

  Problem begin_process() {
    ProcessEntry& process = scenario_.processes.emplace_back();
    keys_ = {{"gpu", which(process.gpu)},
             {"pid", whole(process.pid, 1)},
             {"memory_bytes", bits(process.memory_bytes)},
             {"sm_percent", whole(process.sm_percent, -1)}};
    keys_["kind"] = word(process.kind, {{"compute", ProcessKind::kCompute},
                                        {"graphics", ProcessKind::kGraphics},
                                        {"mps", ProcessKind::kMps}});
    keys_["command"] = text(process.command);
    keys_["uid"] = whole(process.uid);
    keys_["cgroup"] = text(process.cgroup);
    keys_["mig"] = [&process](std::string_view value) -> Problem {
      return whole(process.mig.emplace())(value);
    };
    keys_["out_of_memory"] = truth(process.out_of_memory);
    add_span(keys_, process.span);
    required_ = {"pid"};
    return std::nullopt;
  }

  Setter path(std::string& target) {
    return [this, &target](std::string_view value) -> Problem {
      target = value.starts_with('/') ? std::string(value) : folder_ + "/" + std::string(value);
      return std::nullopt;
    };
  }

  static Setter loop_time(DeviceEntry& device, std::int64_t Loop::* part) {
    return [&device, part](std::string_view value) -> Problem {
      if (!device.loop) device.loop.emplace();
      return milliseconds((*device.loop).*part)(value);
    };
  }

  std::unexpected<base::Error> fail(const std::string& problem) const {
    return base::fail(base::Code::kInvalidArgument,
                      name_ + ":" + std::to_string(line_) + ": " + problem);
  }

  const std::string& folder_;
  const std::string& name_;
  Scenario scenario_;
  Keys keys_;  // of the section that is being read; point into its entry
  std::vector<std::string_view> required_;  // of its keys, those that are still to come
  int line_ = 0;
};

// A GPU that an entry is about and that there is not.
WhichGpu missing_gpu(const Scenario& scenario) {
  WhichGpu missing;
  const auto look = [&](const auto& entries) {
    for (const auto& entry : entries) {
      if (entry.gpu && *entry.gpu >= scenario.devices.size()) missing = entry.gpu;
    }
  };
  look(scenario.faults);
  look(scenario.events);
  look(scenario.overrides);
  look(scenario.processes);
  look(scenario.links);
  look(scenario.migs);
  return missing;
}

}  // namespace

base::Result<Scenario> parse_scenario(std::string_view text, const std::string& folder,
                                      const std::string& name) {
  base::Result<Scenario> scenario = Parser(folder, name).parse(text);
  if (!scenario) return scenario;
  if (const WhichGpu gpu = missing_gpu(*scenario)) {
    return base::fail(base::Code::kInvalidArgument,
                      name + ": gpu " + std::to_string(*gpu) + " is no [[device]]");
  }
  for (const auto check : {check_machine, check_nvlinks}) {
    if (const Problem problem = check(*scenario)) {
      return base::fail(base::Code::kInvalidArgument, name + ": " + *problem);
    }
  }
  if (const Problem problem = lay_out_migs(*scenario)) {
    return base::fail(base::Code::kInvalidArgument, name + ":" + *problem);
  }
  for (const DeviceEntry& device : scenario->devices) {
    const bool has_loop =
        !device.loop || (device.loop->start_ns >= 0 && device.loop->begin_ns >= 0 &&
                         device.loop->start_ns < device.loop->end_ns &&
                         device.loop->begin_ns < device.loop->end_ns);
    if (device.trace.empty() || !has_loop) {
      return base::fail(base::Code::kInvalidArgument,
                        name + ": a [[device]] without a trace or with an empty loop");
    }
  }
  return scenario;
}

base::Result<Scenario> read_scenario(const std::string& path) {
  struct stat status{};
  const bool is_folder = ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  const std::string file = is_folder ? path + "/scenario.toml" : path;
  const base::Result<std::string> text = base::read_file(file);
  if (!text) return std::unexpected(text.error());
  const std::size_t slash = file.rfind('/');
  return parse_scenario(*text, slash == std::string::npos ? "." : file.substr(0, slash), file);
}

std::string format_scenario(const Scenario& scenario) {
  std::string text = "# A simulation; docs/scenarios.md describes this file.\n";
  // None is not the same as an empty name, which is the folder's.
  if (!scenario.playhead.empty()) text += "playhead = \"" + scenario.playhead + "\"\n";
  for (const DeviceEntry& device : scenario.devices) {
    text +=
        "\n[[device]]\ntrace = \"" + device.trace + "\"\nprofile = \"" + device.profile + "\"\n";
    if (!device.loop) continue;
    text += "start_ms = " + std::to_string(device.loop->start_ns / kNsPerMs) + "\n";
    text += "loop_begin_ms = " + std::to_string(device.loop->begin_ns / kNsPerMs) + "\n";
    text += "loop_end_ms = " + std::to_string(device.loop->end_ns / kNsPerMs) + "\n";
  }
  return text;
}

}  // namespace everywatt::sim
