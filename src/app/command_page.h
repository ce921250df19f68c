// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/language.h"

namespace everywatt::app {

struct OptionLine {
  std::vector<std::string> names;  // -n, --gpu; none: an argument by its place
  std::string value;               // what it takes, FILE or en|zh; empty: nothing
  std::string help;
  bool is_required = false;
};

// A command as it is declared to the parser; the first page, without a name, is the bare command's.
struct CommandPage {
  std::string name;
  std::string help;
  std::vector<OptionLine> options;
};

// All commands that --help shows, in its order. Made by command_line.cc.
std::vector<CommandPage> describe_commands(Language language);

// A page of the manual, as `man` reads it.
std::string format_manual(const std::vector<CommandPage>& pages, const CommandPage& page,
                          Language language);

// bash, zsh, fish; nothing for another word.
std::optional<std::string> parse_shell(std::string_view word);

// Scripts that a shell reads to complete our words.
std::string format_bash_completions(const std::vector<CommandPage>& pages);
std::string format_zsh_completions(const std::vector<CommandPage>& pages);
std::string format_fish_completions(const std::vector<CommandPage>& pages);

}  // namespace everywatt::app
