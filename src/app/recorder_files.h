// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "record/recorder/layout.h"
#include "record/recorder/writer.h"

namespace everywatt::app {

// Whose GPUs a recorder is about. One that was made for others is never continued; the number of
// spare slots tells them apart.
enum class GpuSource { kMachine, kNamedLibrary, kDemo };

recorder::LayoutOptions recorder_layout(GpuSource source, unsigned gpus);

// Memory that the files come to while no spare slot is used.
std::uint64_t needed_bytes(const recorder::LayoutOptions& layout, unsigned gpus);

struct RecorderFiles {
  std::unique_ptr<recorder::File> recorder;
  std::unique_ptr<recorder::File> identities;
  recorder::LayoutOptions layout;  // the recorder's
  bool is_continued = false;  // what an earlier daemon recorded since the machine's start is in it
};

// Takes up the files in the folder when they are of this version, boot and layout, so that their
// accumulators go on, or replaces them. A demo always starts anew.
base::Result<RecorderFiles> open_recorder_files(const std::string& folder,
                                                const recorder::LayoutOptions& layout,
                                                GpuSource source);

// Makes a recorder with room for eight more GPUs that holds all that the old one does, and gives it
// the old one's name. Readers of the old file see that it has a successor. Nobody may write to the
// old one meanwhile or any more. kIo: no room; the old one stays.
base::Status grow_recorder(const std::string& folder, RecorderFiles& files);

}  // namespace everywatt::app
