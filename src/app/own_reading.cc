// SPDX-License-Identifier: Apache-2.0
#include "app/own_reading.h"

#include <fcntl.h>

#include "device/host/pci.h"
#include "device/host/root.h"

namespace everywatt::app {
namespace {

// Slots for a library that shows GPUs where sysfs shows none (a simulation, WSL). Unused ones cost
// nothing.
constexpr unsigned kSlotsWithoutSysfs = 64;

base::Result<std::unique_ptr<recorder::Reader>> open_reader(const recorder::File& file,
                                                            const std::string& name) {
  base::UniqueFd copy(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) return base::fail_errno("copy the descriptor of", name);
  return recorder::Reader::adopt(std::move(copy), name);
}

}  // namespace

sampler::Options sampler_options(const Config& config, std::vector<std::string> pci_addresses) {
  sampler::Options options;
  options.library.path = config.nvml_library;
  options.pci_addresses = std::move(pci_addresses);
  options.host_root = config.host_root == "/" ? "" : config.host_root;
  options.periods = config.periods;
  options.gpm_pace = config.gpm_pace;
  options.gpm_cpu_ratio = config.gpm_cpu_ratio;
  options.retry_ns = config.retry_ns;
  options.retry_max_ns = config.retry_max_ns;
  return options;
}

hostwatch::Options hostwatch_options(const Config& config) {
  hostwatch::Options options;
  options.root = config.host_root;
  options.kernel_log = config.kernel_log;
  options.command = config.command_style;
  options.labels = config.labels;
  options.period_ns = config.host_period_ns;
  options.max_processes = config.max_processes;
  return options;
}

std::vector<std::string> find_gpus(const Config& config) {
  std::vector<std::string> addresses;
  for (const host::PciGpu& gpu : host::list_gpus(host::Root(config.host_root))) {
    addresses.push_back(gpu.address);
  }
  return addresses;
}

base::Result<OwnFiles> OwnFiles::create(const Config& config) {
  OwnFiles files;
  files.pci_addresses = find_gpus(config);
  const auto gpus = static_cast<unsigned>(files.pci_addresses.size());
  const auto layout =
      recorder::live_layout({.gpus = gpus, .spare_gpus = gpus == 0 ? kSlotsWithoutSysfs : 0});
  auto recorder = recorder::File::create_anonymous(layout);
  if (!recorder) return std::unexpected(recorder.error());
  auto identities = recorder::File::create_anonymous(recorder::identities_layout());
  if (!identities) return std::unexpected(identities.error());
  files.recorder = *std::move(recorder);
  files.identities = *std::move(identities);
  return files;
}

base::Result<std::unique_ptr<view::View>> OwnFiles::open_view() const {
  auto recorder_reader = open_reader(*recorder, "own reading");
  if (!recorder_reader) return std::unexpected(recorder_reader.error());
  auto identities_reader = open_reader(*identities, "own reading");
  if (!identities_reader) return std::unexpected(identities_reader.error());
  return view::View::adopt(*std::move(recorder_reader), *std::move(identities_reader),
                           base::boottime_ns);
}

base::Result<std::unique_ptr<view::View>> read_once(const Config& config) {
  auto files = OwnFiles::create(config);
  if (!files) return std::unexpected(files.error());
  if (auto read =
          sampler::sample_once(sampler_options(config, files->pci_addresses), *files->recorder);
      !read) {
    // No library and no driver: there is nothing here to talk to.
    if (read.error().code == base::Code::kNotFound) read.error().code = base::Code::kUnavailable;
    return std::unexpected(read.error());
  }
  if (auto read =
          hostwatch::watch_once(hostwatch_options(config), *files->recorder, *files->identities);
      !read) {
    return std::unexpected(read.error());
  }
  // The mapping of the view outlives the files.
  return files->open_view();
}

base::Result<std::unique_ptr<OwnWatch>> OwnWatch::start(const Config& config) {
  auto files = OwnFiles::create(config);
  if (!files) return std::unexpected(files.error());
  // Says what is wrong with the library or the driver, which the threads would only try again.
  if (auto read =
          sampler::sample_once(sampler_options(config, files->pci_addresses), *files->recorder);
      !read) {
    if (read.error().code == base::Code::kNotFound) read.error().code = base::Code::kUnavailable;
    return std::unexpected(read.error());
  }
  std::unique_ptr<OwnWatch> watch(new OwnWatch);
  watch->files_ = *std::move(files);
  auto sampler = sampler::Sampler::open(sampler_options(config, watch->files_.pci_addresses),
                                        *watch->files_.recorder);
  if (!sampler) return std::unexpected(sampler.error());
  auto hostwatch = hostwatch::Hostwatch::open(hostwatch_options(config), *watch->files_.recorder,
                                              *watch->files_.identities);
  if (!hostwatch) return std::unexpected(hostwatch.error());
  watch->sampler_ = *std::move(sampler);
  watch->hostwatch_ = *std::move(hostwatch);
  watch->sampler_thread_ = std::jthread(
      [&sampler = *watch->sampler_](const std::stop_token& stop) { sampler.run(stop); });
  watch->hostwatch_thread_ =
      std::jthread([&hostwatch = *watch->hostwatch_](const std::stop_token& stop) {
        // Its errors are in the rows that it writes.
        [[maybe_unused]] const base::Status ended = hostwatch.run(stop);
      });
  return watch;
}

}  // namespace everywatt::app
