// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "catalog/event.h"
#include "record/recorder/writer.h"

namespace everywatt::app {

// The supervisor's own events in the recorder.
class SupervisorLog {
 public:
  static base::Result<SupervisorLog> open(recorder::File& file);

  struct Entry {
    catalog::EventKind kind{};
    std::uint64_t code = 0;
    std::uint64_t pid = 0;              // 0: none
    std::optional<std::uint32_t> slot;  // the device that it happened to
    std::string_view text;
  };
  void write(const Entry& entry);

 private:
  explicit SupervisorLog(recorder::Writer writer);

  recorder::Writer writer_;
  catalog::Row row_;
};

}  // namespace everywatt::app
