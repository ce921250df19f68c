// SPDX-License-Identifier: Apache-2.0
// The commands with the options that each takes.
#pragma once

#include <cstdint>
#include <span>

#include "app/arguments.h"
#include "app/language.h"
#include "app/messages.h"

namespace CLI {
class App;
}

namespace everywatt::app {

struct Declaration;

// Whether --help shows a command.
enum class Visibility : std::uint8_t { kShown, kHidden };

struct CommandRow {
  Command command;
  const char* name;
  Message help;
  void (*declare)(const Declaration&);
  Visibility visibility = Visibility::kShown;
};

// In the order of --help.
std::span<const CommandRow> command_table();

// Adds to `app` what the command of `row` takes; parsing writes it to `arguments`, which must stay.
void declare_options(const CommandRow& row, CLI::App& app, Arguments& arguments, Language language);

// The same for the program without a command.
void declare_bare_options(CLI::App& app, Arguments& arguments, Language language);

}  // namespace everywatt::app
