// SPDX-License-Identifier: Apache-2.0
// Hands the words to CLI11 and turns its errors into our lines.
#include "app/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "app/command_page.h"
#include "app/command_table.h"
#include "app/messages.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

OptionLine describe_option(const CLI::Option& option) {
  OptionLine line{.names = {},
                  .value = option.get_type_name(),
                  .help = option.get_description(),
                  .is_required = option.get_required()};
  for (const std::string& name : option.get_snames())
    line.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames())
    line.names.push_back("--" + name);
  if (line.names.empty()) line.value = option.get_name();
  if (option.get_items_expected_max() == 0) line.value.clear();
  return line;
}

std::vector<OptionLine> describe_options(const CLI::App& app) {
  std::vector<OptionLine> lines;
  std::ranges::transform(app.get_options(), std::back_inserter(lines),
                         [](const CLI::Option* option) { return describe_option(*option); });
  return lines;
}

void translate_labels(CLI::App& app, Language language) {
  if (language != Language::kZh) return;
  const auto formatter = std::make_shared<CLI::Formatter>();
  formatter->label("Usage", "用法");
  formatter->label("Positionals", "参数");
  formatter->label("OPTIONS", "选项");
  formatter->label("SUBCOMMAND", "命令");
  formatter->label("REQUIRED", "(必需)");
  app.formatter(formatter);
  app.option_defaults()->group("选项");
}

// What an unknown word could have meant: the long options and, before a command, the commands.
std::vector<std::string> known_words(const CLI::App& app) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      known.push_back("--" + name);
    }
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(command->get_name());
  }
  return known;
}

std::unexpected<base::Error> complain_unknown(const CLI::App& app, const std::string& where,
                                              const std::string& word, Language language) {
  const std::string name = word.substr(0, word.find('='));
  const std::vector<std::string> known = known_words(app);
  const auto near = base::nearest(name, {known.begin(), known.end()});
  const Message what = name.starts_with("-")         ? Message::unknown_option
                       : app.get_parent() == nullptr ? Message::unknown_command
                                                     : Message::unknown_word;
  std::string line = say(language, what, name);
  if (near) line += say(language, Message::did_you_mean, *near);
  return base::fail(base::Code::kInvalidArgument, where + line);
}

class Parser {
 public:
  Parser(Arguments& arguments, Language language)
      : arguments_(arguments),
        language_(language),
        app_(std::string(text(language, Message::help_program)), "everywatt") {
    arguments.language = language;
    translate_labels(app_, language);
    app_.set_help_flag("-h,--help", std::string(text(language, Message::help_help)));
    app_.set_version_flag("--version", "everywatt " EVERYWATT_VERSION,
                          std::string(text(language, Message::help_version)));
    app_.require_subcommand(0, 1);
    declare_bare_options(app_, arguments, language);
    app_.footer(std::string(text(language, Message::help_footer)));
  }

  base::Result<Arguments> parse(std::vector<std::string> words) {
    drop_end_of_options(words);
    declare_commands(words);
    try {
      app_.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    } catch (const CLI::Success&) {
      return show_text(words);
    } catch (const CLI::ExtrasError&) {
      return complain_extras();
    } catch (const CLI::RequiredError&) {
      // A misspelt option explains more than the argument that it took with it.
      if (has_unknown_option()) return complain_extras();
      return complain(say(language_, Message::missing_argument, missing_name()));
    } catch (const CLI::ArgumentMismatch& error) {
      // Its text begins with the option's name; only of too many values it says how many it got.
      const std::string said = error.what();
      const bool is_repeated = said.find("received") != said.npos;
      return complain(say(language_, is_repeated ? Message::given_twice : Message::missing_value,
                          said.substr(0, said.find_first_of(": "))));
    } catch (const CLI::ParseError& error) {
      return complain(error.what());
    }
    if (const auto used = app_.get_subcommands(); !used.empty()) {
      const auto row = std::ranges::find_if(command_table(), [&](const CommandRow& one) {
        return used.front()->get_name() == one.name;
      });
      arguments_.command = row->command;
    }
    if (!arguments_.demo.empty() && !arguments_.replay.empty()) {
      return complain(say(language_, Message::exclude_each_other, "--demo", "--replay"));
    }
    return arguments_;
  }

  CommandPage describe_bare() const {
    return {"", std::string(text(language_, Message::manual_summary)), describe_options(app_)};
  }

 private:
  bool is_option_value(const std::vector<std::string>& words, std::size_t i) const {
    const CLI::Option* before = i == 0 ? nullptr : app_.get_option_no_throw(words[i - 1]);
    return before != nullptr && before->get_items_expected_max() > 0;
  }

  // The first word that is a command's name and not the value of an option.
  std::string_view meant_command(const std::vector<std::string>& words) const {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (is_option_value(words, i)) continue;
      for (const CommandRow& row : command_table()) {
        if (words[i] == row.name) return row.name;
      }
    }
    return {};
  }

  // A "--" before the command: what follows is the command, which CLI11 would take for nothing.
  void drop_end_of_options(std::vector<std::string>& words) const {
    for (std::size_t i = 0; i < words.size();) {
      if (words[i] == "--" && !is_option_value(words, i)) {
        words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (!words[i].starts_with("-") && !is_option_value(words, i)) return;
      ++i;
    }
  }

  // Only the command that is meant is declared in full: its options' defaults are its own.
  void declare_commands(const std::vector<std::string>& words) {
    const std::string_view meant = meant_command(words);
    for (const CommandRow& row : command_table()) {
      CLI::App* command = app_.add_subcommand(row.name, std::string(text(language_, row.help)));
      if (language_ == Language::kZh) command->group("命令");
      if (row.visibility == Visibility::kHidden) command->group("");
      command->set_help_flag("-h,--help", std::string(text(language_, Message::help_help)));
      if (meant == row.name) {
        declare_options(row, *command, arguments_, language_);
      }
    }
  }

  Arguments show_text(const std::vector<std::string>& words) {
    arguments_.command = Command::kShowText;
    const bool is_version = std::find(words.begin(), words.end(), "--version") != words.end();
    const CLI::App* shown = app_.get_subcommands().empty() ? &app_ : app_.get_subcommands().front();
    arguments_.shown =
        is_version ? app_.version() + "\n" : shown->help(shown == &app_ ? "" : "everywatt");
    return arguments_;
  }

  const CLI::App& used() const {
    const auto used = app_.get_subcommands();
    return used.empty() ? app_ : *used.front();
  }
  std::string where() const { return &used() == &app_ ? "" : used().get_name() + ": "; }

  std::unexpected<base::Error> complain(const std::string& line) const {
    return base::fail(base::Code::kInvalidArgument, where() + line);
  }
  std::unexpected<base::Error> complain_extras() const {
    const std::vector<std::string> extras = app_.remaining(true);
    return complain_unknown(used(), where(), extras.empty() ? "" : extras.front(), language_);
  }
  bool has_unknown_option() const {
    const std::vector<std::string> extras = app_.remaining(true);
    return !extras.empty() && extras.front().starts_with("-");
  }
  std::string missing_name() const {
    for (const CLI::Option* option : used().get_options()) {
      if (option->get_required() && option->count() == 0) return option->get_name();
    }
    return "";
  }

  Arguments& arguments_;
  Language language_;
  CLI::App app_;
};

}  // namespace

base::Result<Arguments> parse_command_line(const std::vector<std::string>& words,
                                           Language default_language) {
  Arguments arguments;
  return Parser(arguments, find_language(words, default_language)).parse(words);
}

std::vector<CommandPage> describe_commands(Language language) {
  Arguments arguments;
  std::vector<CommandPage> pages{Parser(arguments, language).describe_bare()};
  for (const CommandRow& row : command_table()) {
    if (row.visibility == Visibility::kHidden) continue;
    CLI::App app;
    app.set_help_flag("-h,--help", std::string(text(language, Message::help_help)));
    declare_options(row, app, arguments, language);
    pages.push_back({row.name, std::string(text(language, row.help)), describe_options(app)});
  }
  return pages;
}

}  // namespace everywatt::app
