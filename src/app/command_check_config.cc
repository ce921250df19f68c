// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/messages.h"
#include "app/named_files.h"
#include "app/output.h"

namespace everywatt::app {

base::Result<ExitCode> run_check_config(const Arguments& arguments) {
  if (arguments.show_default) {
    print(format_default_config(arguments.language));
    return kFine;
  }
  auto reading = read_config(arguments.config, arguments.settings, arguments.language);
  if (!reading) return std::unexpected(reading.error());
  check_named_files(arguments.language, *reading);
  for (const std::string& note : reading->notes) {
    print_note(note);
  }
  for (const std::string& fault : reading->faults) {
    print_note(fault);
  }
  if (!reading->faults.empty()) return kBadUsage;
  print(say(arguments.language, Message::config_fine) + "\n");
  return kFine;
}

}  // namespace everywatt::app
