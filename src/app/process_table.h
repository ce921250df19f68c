// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/language.h"
#include "read/view/device.h"
#include "read/view/processes.h"

namespace everywatt::app {

struct GpuListing {
  view::Device device;
  view::Listing listing;
};

std::vector<GpuListing> list_all(const view::View& view, std::span<const view::Device> gpus);

// A line a process, one for a GPU whose processes are not known, and one for memory that belongs to
// no process.
std::string format_processes(std::span<const GpuListing> listings, Language language);

}  // namespace everywatt::app
