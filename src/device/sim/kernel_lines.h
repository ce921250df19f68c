// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/sim/host_image.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {

// All that the kernel would log of what a scenario plays, in the order of time: its [[kernel_line]]
// entries; XIDs as the NVIDIA driver writes them (79 with the line that says "fallen off the bus");
// NVLinks that go down, come up or begin to err; GPUs that are plugged in and out; processes that
// are killed for want of memory. The words of links and slots are our own.
std::vector<KernelLineEntry> kernel_lines(const Scenario& scenario);

// The kernel's log of the fake host root: a plain file of records as /dev/kmsg gives them, which
// grows and is never replaced, so that who reads it reads each line once.
class KernelLogFile {
 public:
  // Goes on behind the lines that an earlier player has written there.
  static base::Result<KernelLogFile> open(const std::string& path, const Scenario& scenario);

  // Appends what has become due. Moving the playhead back takes no line away.
  base::Status write(std::int64_t played_ns, const BootTimes& boot);

 private:
  KernelLogFile(std::string path, std::vector<KernelLineEntry> lines, std::size_t written)
      : path_(std::move(path)), lines_(std::move(lines)), written_(written) {}

  std::string path_;
  std::vector<KernelLineEntry> lines_;
  std::size_t written_;
};

}  // namespace everywatt::sim
