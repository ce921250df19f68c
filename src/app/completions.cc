// SPDX-License-Identifier: Apache-2.0
// What can be said without running: the words of a command, the choices of a value (en|zh), names
// of metrics, files. Each script holds them all, so a tab starts no program of ours.
#include <algorithm>

#include "app/command_page.h"
#include "base/text.h"
#include "catalog/catalog.h"

namespace everywatt::app {
namespace {

bool is_option(const OptionLine& option) {
  return !option.names.empty();
}

// "en|zh" -> "en zh"; empty when anything may stand there.
std::string choices(const std::string& value) {
  const bool is_open = std::ranges::any_of(
      value, [](char c) { return (c >= 'A' && c <= 'Z') || c == '[' || c == ' '; });
  if (is_open || value.find('|') == value.npos) return value == "test" ? value : "";
  std::string words = value;
  std::ranges::replace(words, '|', ' ');
  return words;
}

std::string metric_words() {
  std::string words;
  for (const catalog::Metric& metric : catalog::metrics()) {
    words += (words.empty() ? "" : " ") + std::string(metric.name);
  }
  return words;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += between;
    line += word;
  }
  return line;
}

// In single quotes, as every shell reads it.
std::string quoted(std::string_view text, std::string_view quote = "'\\''") {
  std::string line = "'";
  for (const char c : text) {
    if (c == '\'') {
      line += quote;
    } else {
      line += c;
    }
  }
  return line + "'";
}

std::string command_words(const std::vector<CommandPage>& pages) {
  std::string words;
  for (const CommandPage& page : pages) {
    if (!page.name.empty()) words += (words.empty() ? "" : " ") + page.name;
  }
  return words;
}

std::string first_argument(const CommandPage& page) {
  const auto found = std::ranges::find_if_not(page.options, is_option);
  return found == page.options.end() ? "" : found->value;
}

std::string bash_value(const std::string& value) {
  if (value == "METRIC") return "COMPREPLY=($(compgen -W \"$metrics\" -- \"$word\"))";
  if (value == "DIR") return "compopt -o dirnames";
  if (value.find("FILE") != value.npos || value.find("DIR") != value.npos) {
    return "compopt -o default";
  }
  const std::string words = choices(value);
  return words.empty() ? ":" : "COMPREPLY=($(compgen -W '" + words + "' -- \"$word\"))";
}

// What stands in the place of `value` for zsh.
std::string zsh_value(const std::string& value) {
  if (value == "METRIC") return ":METRIC:(" + metric_words() + ")";
  if (value == "DIR") return ":DIR:_files -/";
  if (value.find("FILE") != value.npos || value.find("DIR") != value.npos) {
    return ":FILE:_files";
  }
  const std::string words = choices(value);
  // A colon or a bracket would end the text.
  return words.empty() ? ":value: " : ":value:(" + words + ")";
}

std::string zsh_text(std::string_view text) {
  std::string line;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') line += '\\';
    line += c;
  }
  return line;
}

std::string zsh_arguments(const CommandPage& page) {
  std::string lines;
  for (const OptionLine& option : page.options) {
    for (const std::string& name : option.names) {
      lines += " \\\n        " + quoted("*" + name + "[" + zsh_text(option.help) + "]" +
                                        (option.value.empty() ? "" : zsh_value(option.value)));
    }
    if (!is_option(option)) lines += " \\\n        " + quoted("*" + zsh_value(option.value));
  }
  return lines;
}

std::string fish_option(const std::string& condition, const OptionLine& option) {
  std::string line = "complete -c everywatt -n " + quoted(condition);
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!option.value.empty()) {
    const std::string words = choices(option.value);
    const bool is_file = option.value.find("FILE") != std::string::npos ||
                         option.value.find("DIR") != std::string::npos;
    line += is_file ? " -r -F" : " -x";
    if (!words.empty()) line += " -a " + quoted(words);
  }
  return line + " -d " + quoted(option.help, "\\'") + "\n";
}

}  // namespace

std::optional<std::string> parse_shell(std::string_view word) {
  if (word != "bash" && word != "zsh" && word != "fish") return std::nullopt;
  return std::string(word);
}

std::string format_bash_completions(const std::vector<CommandPage>& pages) {
  std::string script =
      "# bash completion for everywatt; made by `everywatt completions bash`\n"
      "_everywatt() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= "
      "i\n"
      "  local commands='" +
      command_words(pages) +
      "'\n"
      "  local metrics='" +
      metric_words() +
      "'\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    if [[ \" $commands \" == *\" ${COMP_WORDS[i]} \"* ]]; then\n"
      "      command=${COMP_WORDS[i]}\n"
      "      break\n"
      "    fi\n"
      "  done\n"
      "  case $before in\n";
  std::vector<std::string> told;
  for (const CommandPage& page : pages) {
    for (const OptionLine& option : page.options) {
      if (!is_option(option) || option.value.empty()) continue;
      const std::string& name = option.names.back();
      if (std::ranges::find(told, name) != told.end()) continue;
      told.push_back(name);
      script +=
          "    " + joined(option.names, "|") + ") " + bash_value(option.value) + "; return ;;\n";
    }
  }
  script += "  esac\n  case $command in\n";
  for (const CommandPage& page : pages) {
    std::vector<std::string> names;
    for (const OptionLine& option : page.options) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
    script +=
        "    " + (page.name.empty() ? "''" : page.name) + ") words='" + joined(names, " ") + "'";
    if (const std::string argument = first_argument(page); !argument.empty()) {
      script += "; [[ $word == -* ]] || { " + bash_value(argument) + "; return; }";
    }
    script += " ;;\n";
  }
  return script +
         "  esac\n"
         "  [[ -n $command || $word == -* ]] || words=$commands\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -F _everywatt everywatt\n";
}

std::string format_zsh_completions(const std::vector<CommandPage>& pages) {
  std::string script =
      "#compdef everywatt\n"
      "# zsh completion for everywatt; made by `everywatt completions zsh`\n"
      "_everywatt() {\n"
      "  local state line curcontext=$curcontext\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CommandPage& page : pages) {
    if (!page.name.empty()) script += "    " + quoted(page.name + ":" + zsh_text(page.help)) + "\n";
  }
  script += "  )\n  _arguments -C" + zsh_arguments(pages.front()) +
            " \\\n        '1: :->command' '*:: :->arguments'\n"
            "  case $state in\n"
            "    command) _describe command commands ;;\n"
            "    arguments)\n"
            "      case $line[1] in\n";
  for (const CommandPage& page : pages) {
    if (page.name.empty()) continue;
    script += "        " + page.name + ") _arguments" + zsh_arguments(page) + " ;;\n";
  }
  return script + "      esac ;;\n  esac\n}\n_everywatt \"$@\"\n";
}

std::string format_fish_completions(const std::vector<CommandPage>& pages) {
  std::string script =
      "# fish completion for everywatt; made by `everywatt completions fish`\n"
      "complete -c everywatt -f\n";
  for (const CommandPage& page : pages) {
    const bool is_bare = page.name.empty();
    const std::string condition =
        is_bare ? "__fish_use_subcommand" : "__fish_seen_subcommand_from " + page.name;
    if (!is_bare) {
      script += "complete -c everywatt -n __fish_use_subcommand -a " + page.name + " -d " +
                quoted(page.help, "\\'") + "\n";
    }
    for (const OptionLine& option : page.options) {
      if (is_option(option)) {
        script += fish_option(condition, option);
      } else if (option.value == "METRIC") {
        script += "complete -c everywatt -n " + quoted(condition) + " -a " +
                  quoted(metric_words()) + "\n";
      } else if (option.value.find("FILE") != std::string::npos ||
                 option.value.find("DIR") != std::string::npos) {
        script += "complete -c everywatt -n " + quoted(condition) + " -F\n";
      } else if (const std::string words = choices(option.value); !words.empty()) {
        script += "complete -c everywatt -n " + quoted(condition) + " -a " + quoted(words) + "\n";
      }
    }
  }
  return script;
}

}  // namespace everywatt::app
