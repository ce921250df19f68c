// SPDX-License-Identifier: Apache-2.0
#include "device/host/process_io.h"

#include "device/host/lines.h"

namespace everywatt::host {

base::Result<ProcessIo> parse_process_io(std::string_view io) {
  const auto read = find_number(io, "read_bytes:");
  const auto written = find_number(io, "write_bytes:");
  if (!read || !written) return base::fail(base::Code::kCorrupt, "/proc/PID/io: incomplete");
  return ProcessIo{.read_bytes = *read, .written_bytes = *written};
}

}  // namespace everywatt::host
