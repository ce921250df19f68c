// SPDX-License-Identifier: Apache-2.0
#include "device/host/command.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/text.h"
#include "device/host/lines.h"
#include "device/host/redact.h"

namespace everywatt::host {
namespace {

// More arguments than these say nothing about what runs.
constexpr std::size_t kMostArguments = 256;

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// How the options of an interpreter lead to its script. Letters of short options, which may stand
// together ("-lc") and have what belongs to them attached ("-mmodule").
struct Interpreter {
  std::string_view names;
  std::string_view code;         // code follows: it may hold anything and is not kept
  std::string_view module = {};  // a module's name follows
  std::string_view input = {};   // the script is not named: all that follows is its arguments
  std::string_view value = {};   // a value follows, which is not the script
};
constexpr std::array kInterpreters = {
    Interpreter{.names = "python pypy", .code = "c", .module = "m", .value = "WX"},
    Interpreter{.names = "bash sh dash zsh ksh", .code = "c", .input = "s", .value = "oO"},
    Interpreter{.names = "perl", .code = "eE", .value = "I"},
    Interpreter{.names = "ruby", .code = "e", .value = "ICErx"},
    Interpreter{.names = "node", .code = "ep", .value = "rC"},
    Interpreter{.names = "julia", .code = "eE", .value = "pJtLHC"},
};

const Interpreter* find_interpreter(std::string_view program) {
  // python3.11 is python: versions are left out of the comparison.
  const std::string_view name = program.substr(0, program.find_first_of("0123456789.-"));
  for (const Interpreter& interpreter : kInterpreters) {
    std::string_view names = interpreter.names;
    for (std::string_view one = take_word(names); !one.empty(); one = take_word(names)) {
      if (one == name) return &interpreter;
    }
  }
  return nullptr;
}

bool is_long_code(std::string_view option) {
  return option == "--eval" || option == "--print";
}
bool takes_long_value(std::string_view option) {
  static constexpr std::array<std::string_view, 7> kWithValue = {"--check-hash-based-pycs",
                                                                 "--rcfile",
                                                                 "--init-file",
                                                                 "--require",
                                                                 "--import",
                                                                 "--loader",
                                                                 "--env-file"};
  return std::ranges::find(kWithValue, option) != kWithValue.end();
}

// The first letter of an option like "-uc" that something follows, and what is attached to it.
struct ShortOption {
  char letter = 0;
  std::string_view attached;
};
ShortOption find_letter(const Interpreter& interpreter, std::string_view letters) {
  for (std::size_t i = 0; i < letters.size(); ++i) {
    for (const std::string_view group :
         {interpreter.code, interpreter.module, interpreter.input, interpreter.value}) {
      if (group.find(letters[i]) != std::string_view::npos) {
        return {.letter = letters[i], .attached = letters.substr(i + 1)};
      }
    }
  }
  return {};
}

bool is_plain_name(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '-' || c == '+';
  });
}

// A script's name is kept only if it can be a file's: text on a command line that merely stands
// where a script could is not.
bool is_script(std::string_view text) {
  return is_plain_name(file_name(text)) && text.find_first_of(" \t\n=") == std::string_view::npos;
}

// A program may write any text over its arguments ("postgres: user secret"): the first word alone,
// up to a sign that no program's name has, names it.
std::string_view program_name(std::string_view title) {
  const std::string_view name = file_name(take_word(title));
  return name.substr(0, name.find_first_of("=?&;,'\"{}()$"));
}

// " -m module", " -c" or " script", from what follows an interpreter.
struct Script {
  std::string name;
  std::size_t arguments = 0;  // how many are the interpreter's, with the script itself
};
Script name_script(const Interpreter& interpreter, std::span<const std::string_view> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const std::string_view next = i + 1 < arguments.size() ? arguments[i + 1] : std::string_view();
    const std::size_t one = i + 1;
    const std::size_t two = std::min(i + 2, arguments.size());
    if (argument == "-") return {.name = {}, .arguments = one};  // it comes from the input
    if (argument.starts_with("--")) {
      if (is_long_code(argument)) return {.name = " " + std::string(argument), .arguments = two};
      if (takes_long_value(argument)) ++i;
      continue;
    }
    if (!argument.starts_with("-")) {
      if (!is_script(argument)) return {.name = {}, .arguments = i};
      return {.name = " " + std::string(file_name(argument)), .arguments = one};
    }
    const auto [letter, attached] = find_letter(interpreter, argument.substr(1));
    if (letter == 0) continue;
    const std::size_t taken = attached.empty() ? two : one;
    if (interpreter.code.find(letter) != std::string_view::npos) {
      return {.name = {' ', '-', letter}, .arguments = taken};
    }
    if (interpreter.input.find(letter) != std::string_view::npos) {
      return {.name = {}, .arguments = one};
    }
    if (interpreter.module.find(letter) != std::string_view::npos) {
      const std::string_view module = attached.empty() ? next : attached;
      return {.name = is_plain_name(module) ? " -m " + std::string(module) : std::string(),
              .arguments = taken};
    }
    if (attached.empty()) ++i;
  }
  return {.name = {}, .arguments = arguments.size()};
}

// The program's name and the script's, and the arguments that follow both.
struct Named {
  std::string name;
  std::span<const std::string_view> rest;
};
Named name_command(std::span<const std::string_view> arguments) {
  const std::string_view program = program_name(arguments.front());
  const auto rest = arguments.subspan(1);
  const Interpreter* interpreter = find_interpreter(program);
  if (interpreter == nullptr) return {.name = std::string(program), .rest = rest};
  const Script script = name_script(*interpreter, rest);
  return {.name = std::string(program) + script.name, .rest = rest.subspan(script.arguments)};
}

// Words that a program has written over its arguments stand in the first one.
std::vector<std::string_view> split_title(std::span<const std::string_view> arguments) {
  std::vector<std::string_view> words;
  std::string_view title = arguments.front();
  for (std::string_view word = take_word(title); !word.empty(); word = take_word(title)) {
    words.push_back(word);
  }
  if (words.empty()) words.emplace_back();
  words.insert(words.end(), arguments.begin() + 1, arguments.end());
  return words;
}

std::string name_with_options(std::span<const std::string_view> arguments) {
  const std::vector<std::string_view> words = split_title(arguments);
  const Named named = name_command(words);
  return named.name + " " + redact_values(named.rest);
}

}  // namespace

std::string format_command(std::string_view cmdline, CommandStyle style) {
  std::vector<std::string_view> arguments;
  while (!cmdline.empty() && arguments.size() < kMostArguments) {
    const std::string_view argument = take_until(cmdline, '\0');
    if (!argument.empty() || !arguments.empty()) arguments.push_back(argument);
  }
  if (arguments.empty()) return {};
  std::string command;
  switch (style) {
    case CommandStyle::kName:
      command = name_command(arguments).name;
      break;
    case CommandStyle::kRedacted:
      command = name_with_options(arguments);
      break;
    case CommandStyle::kFull:
      command = redact_arguments(arguments);
      break;
  }
  return base::clean_text(base::trim(command), kCommandBytes);
}

}  // namespace everywatt::host
