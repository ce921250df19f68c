// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "record/recorder/writer.h"

namespace everywatt::sampler {

// Says of a GPU that the driver has never named what the kernel knows of it: its number in the
// order of PCI addresses as its index, and its address ("0000:06:00.0"; empty: unknown). Without
// that it would look like GPU 0. Does nothing for a slot that was named once. Called by the thread
// that writes the slot's rows.
void describe_unnamed_gpu(recorder::File& file, std::uint32_t slot, unsigned number,
                          const std::string& pci_address, std::int64_t now_ns);

}  // namespace everywatt::sampler
