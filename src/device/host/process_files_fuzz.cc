// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>
#include <vector>

#include "base/fuzz_target.h"
#include "device/host/command.h"
#include "device/host/container.h"
#include "device/host/labels.h"
#include "device/host/process_line.h"
#include "device/host/process_status.h"

namespace everywatt::host {

// Any bytes as each of the files in /proc/PID.
FUZZ_TARGET(process_files) {
  static_cast<void>(parse_process_line(bytes));
  if (const auto status = parse_process_status(bytes)) {
    static_cast<void>(count_cpus(status->allowed_cpus));
  }
  static_cast<void>(parse_container_of_process(bytes));
  static_cast<void>(parse_container(bytes));
  static_cast<void>(find_unit(bytes));
  static const std::vector<std::string> chosen = {"TEAM"};
  CHECK(base::is_clean(format_labels(bytes, chosen)));
  for (const CommandStyle style :
       {CommandStyle::kName, CommandStyle::kRedacted, CommandStyle::kFull}) {
    const std::string command = format_command(bytes, style);
    CHECK(command.size() <= kCommandBytes);
    CHECK(base::is_clean(command));
  }
}

}  // namespace everywatt::host
