// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "device/sim/host_image.h"

namespace everywatt::sim {

// Keeps a folder equal to the image it was given last. Files change by rename, so a reader sees an
// old file or a new one, never half of one; who keeps a file open keeps the old one. A new process
// appears with all its files at once.
class RootWriter {
 public:
  explicit RootWriter(std::string folder) : folder_(std::move(folder)) {}

  // Writes what differs from the image before; removes what it no longer has, with folders that are
  // empty then.
  base::Status write(HostImage image);

 private:
  void remove_stale_processes(const HostImage& image);
  base::Status write_file(const std::string& path, const ImageFile& file);
  base::Status write_new_process(const std::string& folder, const HostImage& image);

  std::string folder_;
  HostImage written_;
};

}  // namespace everywatt::sim
