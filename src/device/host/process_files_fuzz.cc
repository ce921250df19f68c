// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "device/host/command.h"
#include "device/host/container.h"
#include "device/host/labels.h"
#include "device/host/process_line.h"
#include "device/host/process_status.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace everywatt::host;
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  (void)parse_process_line(text);
  if (const auto status = parse_process_status(text)) (void)count_cpus(status->allowed_cpus);
  (void)parse_container_of_process(text);
  (void)parse_container(text);
  (void)find_unit(text);
  const std::vector<std::string> chosen = {"TEAM"};
  (void)format_labels(text, chosen);
  for (const CommandStyle style :
       {CommandStyle::kName, CommandStyle::kRedacted, CommandStyle::kFull}) {
    (void)format_command(text, style);
  }
  return 0;
}
