// SPDX-License-Identifier: Apache-2.0
#include "device/sim/demo_folder.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "device/sim/host_image.h"
#include "device/sim/profile.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".gpu.csv.gz";

// The order in which the traces are told of; GPU 0 is the first.
constexpr std::array<std::string_view, 11> kOrder = {
    "input_bound", "fed",          "synthetic",  "gemm",       "oom_ramp",
    "mem_leak",    "launch_bound", "pcie_bound", "ckpt_stall", "bursty_inference",
    "idle_holder"};

std::size_t place(const std::string& name) {
  return static_cast<std::size_t>(std::find(kOrder.begin(), kOrder.end(), name) - kOrder.begin());
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

constexpr std::string_view kScenario = "scenario:";

std::vector<std::string> scenario_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

fs::path scenarios_folder(const DemoOptions& options) {
  return fs::absolute(fs::path(options.traces_folder) / "../scenarios").lexically_normal();
}

std::string hint_for(const std::string& name, const std::vector<std::string>& traces,
                     const DemoOptions& options) {
  const std::vector<std::string> scenarios = scenario_names(scenarios_folder(options));
  if (std::find(scenarios.begin(), scenarios.end(), name) != scenarios.end()) {
    return "there is a scenario of that name: scenario:" + name;
  }
  return traces.empty() ? "" : "there are: " + joined(traces);
}

base::Result<std::vector<std::string>> find_stems(const DemoOptions& options) {
  std::error_code error;
  const bool is_folder = fs::is_directory(options.demo, error);
  const std::string folder =
      fs::absolute(is_folder ? options.demo : options.traces_folder).lexically_normal().string();
  const std::vector<std::string> known = trace_names(folder);
  std::vector<std::string> wanted;
  if (is_folder || options.demo == "all") {
    wanted = known;
  } else {
    for (const std::string_view name : base::split(options.demo, ',')) {
      wanted.emplace_back(base::trim(name));
    }
  }
  if (wanted.empty()) {
    return base::fail(base::Code::kNotFound, folder + ": no traces (NAME.gpu.csv.gz) there");
  }
  std::vector<std::string> stems;
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return base::fail(base::Code::kNotFound, "no trace '" + name + "' in " + folder,
                        hint_for(name, known, options));
    }
    stems.push_back((fs::path(folder) / name).string());
  }
  return stems;
}

// The text of a scenario as it reads from another folder: its traces are named in full.
std::string moved_scenario(const std::string& text, const fs::path& folder) {
  std::string moved;
  for (const std::string_view line : base::split(text, '\n')) {
    const std::size_t quote = line.find('"');
    const bool is_trace = base::trim(line.substr(0, line.find('='))) == "trace";
    if (is_trace && quote != line.npos && line.substr(quote + 1, 1) != "/") {
      moved.append(line.substr(0, quote + 1)).append(folder.string()).append(1, '/');
      moved.append(line.substr(quote + 1)).append(1, '\n');
    } else {
      moved.append(line).append(1, '\n');
    }
  }
  return moved;
}

// The scenario file of that name, for another folder.
base::Result<std::string> named_scenario(const std::string& name, const DemoOptions& options) {
  const fs::path folder = scenarios_folder(options);
  const std::vector<std::string> known = scenario_names(folder);
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    return base::fail(base::Code::kNotFound, "no scenario '" + name + "' in " + folder.string(),
                      known.empty() ? "" : "there are: " + joined(known));
  }
  const std::string file = (folder / (name + ".toml")).string();
  const auto text = base::read_file(file);
  if (!text) return std::unexpected(text.error());
  const auto scenario = parse_scenario(*text, folder.string(), file);
  if (!scenario) return std::unexpected(scenario.error());
  if (const auto host = PlayedHost::open(*scenario); !host) return std::unexpected(host.error());
  return moved_scenario(*text, folder);
}

// The scenario file that plays traces by their names.
base::Result<std::string> traces_scenario(const DemoOptions& options) {
  const auto stems = find_stems(options);
  if (!stems) return std::unexpected(stems.error());
  Scenario scenario;
  scenario.playhead = "playhead";
  for (const std::string& stem : *stems) {
    DeviceEntry& device = scenario.devices.emplace_back();
    device.trace = stem;
    device.profile = options.profile;
  }
  if (const auto host = PlayedHost::open(scenario); !host) return std::unexpected(host.error());
  return format_scenario(scenario);
}

}  // namespace

std::vector<std::string> trace_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string name = entry.path().filename().string();
    if (!name.ends_with(kSuffix)) continue;
    name.resize(name.size() - kSuffix.size());
    names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end(), [](const std::string& left, const std::string& right) {
    return std::pair(place(left), left) < std::pair(place(right), right);
  });
  return names;
}

base::Status make_demo_folder(const DemoOptions& options) {
  if (!profile_by_key(options.profile)) {
    return base::fail(base::Code::kInvalidArgument, "no profile '" + options.profile + "'",
                      "there are: h200, h100, a100, a100-40gb");
  }
  const auto text = options.demo.starts_with(kScenario)
                        ? named_scenario(options.demo.substr(kScenario.size()), options)
                        : traces_scenario(options);
  if (!text) return std::unexpected(text.error());

  std::error_code error;
  fs::create_directories(options.folder, error);
  if (error) return base::fail_errno("create", options.folder, error.value());
  if (auto made = Playhead::create(options.folder + "/playhead", options.pace); !made) return made;
  return base::write_file_atomically(options.folder + "/scenario.toml", *text, 0644);
}

}  // namespace everywatt::sim
