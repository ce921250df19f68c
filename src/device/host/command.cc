// SPDX-License-Identifier: Apache-2.0
#include "device/host/command.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

// More arguments than these say nothing about what runs.
constexpr std::size_t kMostArguments = 256;

std::string_view file_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool starts_interpreter(std::string_view program) {
  static constexpr std::array<std::string_view, 10> kInterpreters = {
      "python", "pypy", "bash", "sh", "dash", "zsh", "perl", "ruby", "node", "julia"};
  // python3.11 is python: versions are left out of the comparison.
  const auto end = program.find_first_of("0123456789.-");
  return std::ranges::find(kInterpreters, program.substr(0, end)) != kInterpreters.end();
}

// Options of these interpreters whose value is the next argument, so that a value is not taken for
// the script.
bool takes_value(std::string_view option) {
  static constexpr std::array<std::string_view, 4> kWithValue = {"-W", "-X", "-o",
                                                                 "--check-hash-based-pycs"};
  return std::ranges::find(kWithValue, option) != kWithValue.end();
}

// -c, -lc, -uc, -e: the next argument is code.
bool takes_code(std::string_view option) {
  return option.size() >= 2 && option[0] == '-' && option[1] != '-' &&
         (option.back() == 'c' || option.back() == 'e');
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

std::string name_command(const std::vector<std::string_view>& arguments) {
  // A program may write any text over its arguments ("postgres: user secret"): the first word alone
  // names it.
  std::string_view program = arguments.front();
  if (!is_plain_name(file_name(program))) program = take_word(program);
  std::string command(file_name(program));
  if (!starts_interpreter(command)) return command;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "-m" && i + 1 < arguments.size()) {
      if (is_plain_name(arguments[i + 1])) command.append(" -m ").append(arguments[i + 1]);
      break;
    }
    // Code on the command line is not kept: it may hold anything.
    if (takes_code(argument)) {
      command.append(" -").append(argument.substr(argument.size() - 1));
      break;
    }
    if (takes_value(argument)) {
      ++i;
      continue;
    }
    if (argument.starts_with("-")) continue;
    if (is_script(argument)) command.append(" ").append(file_name(argument));
    break;
  }
  return command;
}

bool looks_secret(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kWords = {
      "token", "passw", "secret", "key", "auth", "credential", "cookie", "session", "pwd", "dsn"};
  const std::string lower = base::to_lower(name);
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Tokens that services give out, as they begin: for those that stand alone.
bool is_known_token(std::string_view value) {
  static constexpr std::array<std::string_view, 9> kBegins = {
      "AKIA", "ASIA", "hf_", "ghp_", "gho_", "github_pat_", "sk-", "xox", "eyJ"};
  return value.size() >= 12 && std::ranges::any_of(kBegins, [&](std::string_view begin) {
           return value.starts_with(begin);
         });
}

std::string redact(std::string_view argument) {
  // NAME=value, and "Authorization: Bearer ..." of HTTP headers.
  const auto separator = argument.find_first_of("=:");
  if (separator != std::string_view::npos) {
    const std::string_view name = argument.substr(0, separator);
    if (looks_secret(name) || is_known_token(argument.substr(separator + 1))) {
      return std::string(argument.substr(0, separator + 1)) + "***";
    }
  }
  if (is_known_token(argument)) return "***";
  // https://user:password@host
  const auto scheme = argument.find("://");
  const auto at = argument.find('@');
  if (scheme != std::string_view::npos && at != std::string_view::npos && at > scheme) {
    return std::string(argument.substr(0, scheme + 3)) + "***" + std::string(argument.substr(at));
  }
  return std::string(argument);
}

std::string redacted_command(const std::vector<std::string_view>& arguments) {
  std::string command;
  bool is_value_secret = false;
  for (const std::string_view argument : arguments) {
    if (!command.empty()) command += ' ';
    const bool is_option = argument.starts_with("-");
    command += is_value_secret && !is_option ? std::string("***") : redact(argument);
    is_value_secret =
        is_option && looks_secret(argument) && argument.find('=') == std::string_view::npos;
  }
  return command;
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
      command = name_command(arguments);
      break;
    case CommandStyle::kRedacted:
      command = redacted_command(arguments);
      break;
    case CommandStyle::kFull:
      for (const std::string_view argument : arguments) {
        if (!command.empty()) command += ' ';
        command += argument;
      }
      break;
  }
  return base::clean_text(base::trim(command), kCommandBytes);
}

}  // namespace everywatt::host
