// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "record/hostwatch/event_writer.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

// Keeps wall_offset_ns of both files current, and tells when the wall clock jumped: by more than
// half a second between two ticks, or since an earlier process of ours last looked.
class WallClock {
 public:
  WallClock(recorder::File& recorder, recorder::File& identities, EventWriter& events)
      : recorder_(recorder), identities_(identities), events_(events) {}

  void tick(std::int64_t now_ns, std::int64_t wall_ns);

 private:
  recorder::File& recorder_;
  recorder::File& identities_;
  EventWriter& events_;
};

}  // namespace everywatt::hostwatch
