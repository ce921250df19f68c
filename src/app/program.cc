// SPDX-License-Identifier: Apache-2.0
#include "app/program.h"

#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"

namespace everywatt::app {
namespace {

base::Result<ExitCode> run_command(const Arguments& arguments) {
  switch (arguments.command) {
    case Command::kShowText:
      print(arguments.shown);
      return kFine;
    case Command::kCatalog:
      return run_catalog(arguments);
    default:
      return base::fail(base::Code::kNotSupported, "not there yet");
  }
}

}  // namespace

int run_program(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const base::Result<Arguments> arguments = parse_command_line(words, language_of_environment());
  if (!arguments) {
    print_error(arguments.error());
    return kBadUsage;
  }
  const base::Result<ExitCode> code = run_command(*arguments);
  if (code) return *code;
  print_error(code.error());
  return exit_code(code.error().code);
}

}  // namespace everywatt::app
