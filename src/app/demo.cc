// SPDX-License-Identifier: Apache-2.0
#include "app/demo.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "app/child.h"
#include "base/file.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

constexpr int kMakeTimeoutMs = 60'000;  // eleven traces are read once: seconds on a slow machine

base::Result<std::string> beside_program(const std::string& name) {
  std::error_code error;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {".", "../lib/everywatt", "../libexec/everywatt"}) {
    const auto path = (folder / place / name).lexically_normal();
    if (std::filesystem::exists(path, error)) return path.string();
  }
  return base::fail(base::Code::kNotFound,
                    fmt::format("{} is not beside the program ({})", name, folder.string()),
                    "the demo needs it: build or install all of everywatt");
}

// Runs the player to its end. What it says on stderr is the error.
base::Status run_player(const std::string& program, std::vector<std::string> arguments) {
  std::string said(4096, '\0');
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return base::fail_errno("open", "a pipe");
  base::UniqueFd read_end(pipe[0]);
  base::UniqueFd write_end(pipe[1]);
  auto child = Child::start({.program = program,
                             .arguments = std::move(arguments),
                             .descriptors = {},
                             .environment = {},
                             .stderr_fd = write_end.get()});
  if (!child) return std::unexpected(child.error());
  write_end.reset();
  const auto ending = child->wait_for(kMakeTimeoutMs);
  if (ending && ending->exit_status == 0) return {};
  const ssize_t got = ending ? ::read(read_end.get(), said.data(), said.size()) : 0;
  said.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  std::string line(base::trim(said));
  if (line.empty()) line = ending ? ending->text : "did not end";
  constexpr std::string_view kPrefix = "everywatt-player: ";
  if (line.starts_with(kPrefix)) line.erase(0, kPrefix.size());
  return base::fail(base::Code::kInvalidArgument, "--demo: " + line);
}

}  // namespace

unsigned count_demo_gpus(const std::string& names) {
  constexpr unsigned kAll = 11;                                       // the traces of the product
  if (names == "all" || names.starts_with("scenario:")) return kAll;  // no scenario has more
  std::error_code error;
  if (!std::filesystem::is_directory(names, error)) {
    return static_cast<unsigned>(base::split(names, ',').size());
  }
  unsigned count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(names, error)) {
    if (entry.path().string().ends_with(".gpu.csv.gz")) ++count;
  }
  return count;
}

std::vector<std::string> find_trace_names(std::string_view scenario) {
  std::vector<std::string> names;
  for (const std::string_view line : base::split(scenario, '\n')) {
    const auto words = base::split(line, '"');
    if (words.size() < 3 || base::trim(words[0].substr(0, words[0].find('='))) != "trace") continue;
    names.emplace_back(words[1].substr(words[1].rfind('/') + 1));
  }
  return names;
}

base::Result<Demo> Demo::make(const std::string& folder, const std::string& names) {
  const auto player = beside_program("everywatt-player");
  if (!player) return std::unexpected(player.error());
  auto library = beside_program("libnvidia-ml-sim.so");
  if (!library) return std::unexpected(library.error());
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  // A place that nothing can be written to is no wrong name of a trace.
  if (::mkdir(folder.c_str(), 0755) != 0) return base::fail_errno("make", folder);
  if (auto made = run_player(*player, {"everywatt-player", "--make", folder, "--demo", names});
      !made) {
    return std::unexpected(made.error());
  }
  // The root must be there before anybody looks at it; the player takes it over from here.
  const std::string root = folder + "/root";
  std::filesystem::create_directories(root, error);
  if (auto written =
          run_player(*player, {"everywatt-player", "--root", root, "--sim", folder, "--once", "0"});
      !written) {
    return std::unexpected(written.error());
  }
  // Where a scenario takes the library away for a while, the player has made a link that goes.
  if (std::filesystem::is_directory(folder + "/lib", error)) {
    *library = folder + "/lib/libnvidia-ml.so.1";
  }
  const auto scenario = base::read_file(folder + "/scenario.toml");
  if (!scenario) return std::unexpected(scenario.error());
  return Demo{.folder = folder,
              .nvml_library = *std::move(library),
              .host_root = root,
              .player = {.program = *player, .arguments = {"everywatt-player", "--play", folder}},
              .traces = find_trace_names(*scenario)};
}

}  // namespace everywatt::app
