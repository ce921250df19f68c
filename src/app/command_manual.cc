// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "app/command_page.h"
#include "app/commands.h"
#include "app/messages.h"
#include "app/output.h"

namespace everywatt::app {

base::Result<ExitCode> run_manual(const Arguments& arguments) {
  const std::vector<CommandPage> pages = describe_commands(arguments.language);
  const auto page = std::ranges::find(pages, arguments.page, &CommandPage::name);
  if (page == pages.end()) {
    return base::fail(base::Code::kInvalidArgument,
                      say(arguments.language, Message::unknown_command, arguments.page));
  }
  print(format_manual(pages, *page, arguments.language));
  return kFine;
}

base::Result<ExitCode> run_completions(const Arguments& arguments) {
  const std::vector<CommandPage> pages = describe_commands(arguments.language);
  if (arguments.shell == "bash") {
    print(format_bash_completions(pages));
  } else if (arguments.shell == "zsh") {
    print(format_zsh_completions(pages));
  } else {
    print(format_fish_completions(pages));
  }
  return kFine;
}

}  // namespace everywatt::app
