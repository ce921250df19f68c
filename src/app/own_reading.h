// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "read/view/view.h"
#include "record/hostwatch/hostwatch.h"
#include "record/recorder/writer.h"
#include "record/sampler/sampler.h"

// What the parts of the daemon are made of, also for a command that reads without one.
namespace everywatt::app {

sampler::Options sampler_options(const Config& config, std::vector<std::string> pci_addresses);
hostwatch::Options hostwatch_options(const Config& config);

// The GPUs' PCI addresses by sysfs, in nvidia-smi's order. Touches no driver.
std::vector<std::string> find_gpus(const Config& config);

// Recorder files of this process alone, in memory.
struct OwnFiles {
  std::unique_ptr<recorder::File> recorder;
  std::unique_ptr<recorder::File> identities;
  std::vector<std::string> pci_addresses;

  static base::Result<OwnFiles> create(const Config& config);
  // A view of them with the machine's clock.
  base::Result<std::unique_ptr<view::View>> open_view() const;
};

// Reads everything once: 0.3 s. The view keeps what was read.
base::Result<std::unique_ptr<view::View>> read_once(const Config& config);

// Reads in the background for as long as it lives.
class OwnWatch {
 public:
  // Returns when there is a first reading, or after a second.
  static base::Result<std::unique_ptr<OwnWatch>> start(const Config& config);
  base::Result<std::unique_ptr<view::View>> open_view() const { return files_.open_view(); }

 private:
  OwnWatch() = default;
  // In this order: the threads end before what they work with.
  OwnFiles files_;
  std::unique_ptr<sampler::Sampler> sampler_;
  std::unique_ptr<hostwatch::Hostwatch> hostwatch_;
  std::jthread sampler_thread_;
  std::jthread hostwatch_thread_;
};

}  // namespace everywatt::app
