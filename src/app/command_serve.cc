// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <ranges>

#include "app/commands.h"
#include "app/counters_choice.h"
#include "app/courier_needs.h"
#include "app/demo.h"
#include "app/inherited.h"
#include "app/listener.h"
#include "app/own_reading.h"
#include "app/recorder_files.h"
#include "app/replay.h"
#include "app/run_folder.h"
#include "app/served_access.h"
#include "app/stop_signals.h"
#include "app/supervisor.h"
#include "base/log.h"

namespace everywatt::app {
namespace {

// Below it a demo is played. Made anew at each start, removed at the end: a name that nothing of
// the user's has, who may have named any folder as the run folder.
constexpr std::string_view kDemoFolder = "everywatt-demo";

class DemoFolder {
 public:
  explicit DemoFolder(std::string path) : path_(std::move(path)) {}
  DemoFolder(const DemoFolder&) = delete;
  DemoFolder& operator=(const DemoFolder&) = delete;
  ~DemoFolder() {
    std::error_code error;
    // A demo's journal goes with it, and the link to it, too.
    const std::string link = (std::filesystem::path(path_).parent_path() / kJournalName).string();
    if (std::filesystem::read_symlink(link, error).string().starts_with(path_ + "/")) {
      std::filesystem::remove(link, error);
    }
    std::filesystem::remove_all(path_, error);
  }

 private:
  std::string path_;
};

// The room for a demo's own files: its fake host root.
constexpr std::uint64_t kDemoBytes = std::uint64_t{4} << 20;

GpuSource gpu_source(const Arguments& arguments, const Config& config) {
  if (!arguments.demo.empty()) return GpuSource::kDemo;
  return config.nvml_library.empty() ? GpuSource::kMachine : GpuSource::kNamedLibrary;
}

void use_demo(const Demo& demo, SupervisorOptions& options) {
  override_setting(options.config, "driver.library", demo.nvml_library);
  override_setting(options.config, "host.root", demo.host_root);
  // The machine's own kernel log knows nothing of simulated GPUs.
  options.sampler_environment = {{"EVERYWATT_SIM", demo.folder}};
  options.companion = demo.player;
  // The page takes it apart: which GPU plays what.
  options.note = fmt::format("demo: {}", fmt::join(demo.traces, ", "));
}

// A demo's lasting files go with it.
std::string find_data_folder(const Config& config, const std::string& demo_folder) {
  if (config.data_folder.empty() && !demo_folder.empty()) return demo_folder + "/data";
  return choose_data_folder(data_folder_sources(config.data_folder));
}

// What is to be sent waits on the disk; without a place for it nothing is sent, and all else goes
// on.
void prepare_courier(const std::string& data_folder, SupervisorOptions& options) {
  if (!needs_courier(options.config)) return;
  auto environment = take_secret_variables(options.config);
  auto spool = open_spool_folder(data_folder);
  if (spool) {
    options.courier.emplace(
        CourierNeeds{.spool = *std::move(spool), .environment = std::move(environment)});
    return;
  }
  const base::Error& error = spool.error();
  base::log(base::LogLevel::kError,
            fmt::format("nothing is sent, for want of a place for what waits: {}{}{}",
                        error.message, error.hint.empty() ? "" : "; ", error.hint));
}

// For orders and marks: without them all else goes on.
void open_doors(const std::string& data_folder, SupervisorOptions& options) {
  auto control = ControlSocket::open(options.folder.path);
  if (control) {
    options.control.emplace(*std::move(control));
  } else {
    base::log(base::LogLevel::kWarning,
              fmt::format("no drain and resume: {}", control.error().message));
  }
  auto marks = Marks::open(options.folder, data_folder);
  if (marks) {
    options.marks.emplace(*std::move(marks));
  } else {
    forget_marks(options.folder);
    base::log(base::LogLevel::kWarning,
              fmt::format("no marks are taken, for want of a journal: {}", marks.error().message));
  }
}

// The chosen counters; says once what of their file is left out.
base::Result<exporter::Counters> tell_counters(const Config& config) {
  constexpr std::size_t kMostLines = 20;
  auto chosen = choose_counters(config);
  if (!chosen) {
    chosen.error().code = base::Code::kInvalidArgument;
    return std::unexpected(std::move(chosen.error()));
  }
  const std::vector<std::string>& skipped = chosen->skipped;
  for (const std::string& line : skipped | std::views::take(kMostLines)) {
    base::log(base::LogLevel::kWarning, fmt::format("{}: {}", config.counters, line));
  }
  if (skipped.size() > kMostLines) {
    base::log(base::LogLevel::kWarning, fmt::format("{}: {} lines more are left out",
                                                    config.counters, skipped.size() - kMostLines));
  }
  return std::move(chosen->counters);
}

}  // namespace

base::Result<ExitCode> run_serve(const Arguments& arguments, const Config& config) {
  undo_inherited_habits();
  survive_failed_writes();
  // From here on: a start that is interrupted leaves nothing behind.
  block_stop_signals();
  auto counters = tell_counters(config);
  if (!counters) return std::unexpected(counters.error());
  const auto scheme = check_access(config, arguments.language);
  if (!scheme) return std::unexpected(scheme.error());
  if (!arguments.replay.empty()) {
    return run_replay(
        {.path = arguments.replay, .counters = *std::move(counters), .scheme = *scheme}, config);
  }
  SupervisorOptions options;
  options.scheme = *scheme;
  options.config = config;
  // As a pod is told where it runs: its own host name is the pod's.
  if (const char* const node = std::getenv("NODE_NAME");
      node != nullptr && config.hostname.empty()) {
    override_setting(options.config, "serve.hostname", node);
  }
  options.pci_addresses = find_gpus(config);
  const GpuSource source = gpu_source(arguments, config);
  // What a demo's GPUs are called is not known before it is made, and that needs the folder.
  auto gpus = source == GpuSource::kDemo ? count_demo_gpus(arguments.demo)
                                         : static_cast<unsigned>(options.pci_addresses.size());
  auto layout = recorder_layout(source, gpus);
  auto folder = take_run_folder(choose_run_folder(run_folder_sources(config.run_folder)),
                                needed_bytes(layout, std::max(gpus, 1U)) + kDemoBytes);
  if (!folder) return std::unexpected(folder.error());
  options.folder = *std::move(folder);
  auto listener = Listener::open(config.listen_address, config.listen_port);
  if (!listener) return std::unexpected(listener.error());
  options.listener = *std::move(listener);

  const std::string demo_path = fmt::format("{}/{}", options.folder.files, kDemoFolder);
  const DemoFolder demo_folder(demo_path);
  if (source == GpuSource::kDemo) {
    const auto demo = Demo::make(demo_path, arguments.demo);
    if (!demo) return std::unexpected(demo.error());
    use_demo(*demo, options);
    options.pci_addresses = find_gpus(options.config);
    gpus = static_cast<unsigned>(options.pci_addresses.size());
    layout = recorder_layout(source, gpus);
  }
  auto files = open_recorder_files(options.folder.files, layout, source);
  if (!files) return std::unexpected(files.error());
  options.files = *std::move(files);
  if (!options.folder.warning.empty()) {
    base::log(base::LogLevel::kWarning, options.folder.warning);
  }
  const std::string data_folder =
      find_data_folder(config, source == GpuSource::kDemo ? demo_path : "");
  open_doors(data_folder, options);
  prepare_courier(data_folder, options);
  auto supervisor = Supervisor::open(std::move(options));
  if (!supervisor) return std::unexpected(supervisor.error());
  return (*supervisor)->run();
}

}  // namespace everywatt::app
