// SPDX-License-Identifier: Apache-2.0
// The only file that knows CLI11. It declares the commands and turns its errors into our lines.
#include "app/command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>

#include "app/command_page.h"
#include "app/messages.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

// What the functions below share while they declare one command.
struct Declaration {
  CLI::App& app;
  Arguments& arguments;
  Language language;

  std::string help(Message message) const { return std::string(text(language, message)); }

  // Nothing between quotes is most often a variable of a script that was not set.
  CLI::Option* text_option(const char* name, std::string& target, Message message,
                           const char* type) const {
    const auto take = [name, spoken = language, &target](const std::string& word) {
      if (word.empty()) throw CLI::ValidationError(say(spoken, Message::missing_value, name));
      target = word;
    };
    return app.add_option_function<std::string>(name, take, help(message))->type_name(type);
  }
  void list_option(const char* name, std::vector<std::string>& target, Message message,
                   const char* type) const {
    app.add_option(name, target, help(message))->type_name(type)->expected(1)->take_all();
  }
  // An option whose text `parse` must understand.
  template <typename Target, typename Parse>
  CLI::Option* parsed_option(const char* name, Target& target, Message message, const char* type,
                             Parse parse, Message complaint) const {
    // It is called when this declaration is long gone.
    const auto take = [name, parse, complaint, spoken = language,
                       &target](const std::string& word) {
      const auto value = parse(word);
      if (!value) throw CLI::ValidationError(say(spoken, complaint, name, word));
      target = static_cast<std::remove_cvref_t<decltype(*value)>>(*value);
    };
    return app.add_option_function<std::string>(name, take, help(message))->type_name(type);
  }
  void duration_option(const char* name, auto& target, Message message) const {
    parsed_option(name, target, message, "DURATION", base::parse_duration_ns,
                  Message::bad_duration);
  }
};

void declare_language(const Declaration& d) {
  d.parsed_option("--lang", d.arguments.language, Message::help_lang, "en|zh", parse_language,
                  Message::bad_language);
}

void declare_json(const Declaration& d) {
  Arguments& arguments = d.arguments;
  d.app.add_flag_function(
      "--json",
      [&arguments](std::int64_t count) {
        if (count > 0) arguments.form = OutputForm::kJson;
      },
      d.help(Message::help_json));
}

void declare_reader(const Declaration& d) {
  declare_json(d);
  declare_language(d);
  d.text_option("--recorder", d.arguments.recorder, Message::help_recorder, "FILE");
  d.text_option("--run-dir", d.arguments.run_folder, Message::help_run_folder, "DIR");
  d.text_option("--config", d.arguments.config, Message::help_config, "FILE");
  d.list_option("--set", d.arguments.settings, Message::help_set, "KEY=VALUE");
}

// Readers that look for themselves when no daemon runs.
void declare_own_reading(const Declaration& d) {
  declare_reader(d);
  d.text_option("--nvml-library", d.arguments.nvml_library, Message::help_nvml_library, "FILE");
  d.text_option("--host-root", d.arguments.host_root, Message::help_host_root, "DIR");
}

void declare_gpus(const Declaration& d) {
  d.list_option("--gpu", d.arguments.gpus, Message::help_gpu, "GPU");
}

void declare_metrics(const Declaration& d) {
  d.app.add_option("METRIC", d.arguments.metrics, d.help(Message::help_metric))
      ->type_name("")
      ->required();
}

void declare_discover(const Declaration& d) {
  declare_own_reading(d);
  declare_gpus(d);
}

void declare_get(const Declaration& d) {
  declare_metrics(d);
  declare_gpus(d);
  declare_own_reading(d);
}

void declare_watch(const Declaration& d) {
  declare_get(d);
  d.duration_option("--interval", d.arguments.interval_ns, Message::help_interval);
  d.parsed_option("--count", d.arguments.times, Message::help_count, "N", base::parse_u64,
                  Message::bad_number);
}

void declare_since(const Declaration& d) {
  d.duration_option("--since", d.arguments.since_ns, Message::help_since);
  d.duration_option("--until", d.arguments.until_ns, Message::help_until);
}

void declare_history(const Declaration& d) {
  declare_metrics(d);
  declare_gpus(d);
  declare_since(d);
  d.duration_option("--step", d.arguments.step_ns, Message::help_step);
  declare_reader(d);
}

void declare_events(const Declaration& d) {
  d.arguments.since_ns = 86'400'000'000'000;
  declare_since(d);
  declare_gpus(d);
  d.app.add_flag("--follow", d.arguments.follow, d.help(Message::help_follow));
  declare_reader(d);
}

void declare_processes(const Declaration& d) {
  declare_gpus(d);
  declare_own_reading(d);
}

void declare_free(const Declaration& d) {
  d.parsed_option("-n", d.arguments.free_count, Message::help_free_count, "N", base::parse_u64,
                  Message::bad_number);
  d.parsed_option("--memory", d.arguments.memory_bytes, Message::help_free_memory, "SIZE",
                  base::parse_bytes, Message::bad_size);
  declare_reader(d);
}

void declare_catalog(const Declaration& d) {
  Arguments& arguments = d.arguments;
  d.app.add_flag_function(
      "--markdown", [&arguments](std::int64_t) { arguments.form = OutputForm::kMarkdown; },
      d.help(Message::help_markdown));
  declare_json(d);
  declare_language(d);
}

void declare_why(const Declaration& d) {
  d.app.add_option("METRIC", d.arguments.metrics, d.help(Message::help_why_metric))
      ->type_name("")
      ->required();
  declare_gpus(d);
  declare_reader(d);
}

void declare_record(const Declaration& d) {
  d.text_option("FILE", d.arguments.output, Message::help_record_file, "")->required();
  d.duration_option("--for", d.arguments.duration_ns, Message::help_for);
  d.app.add_flag("--no-identities", d.arguments.without_identities,
                 d.help(Message::help_no_identities));
  declare_reader(d);
}

void declare_import(const Declaration& d) {
  d.app.add_option("TRACE_OR_DIR", d.arguments.inputs, d.help(Message::help_import_input))
      ->type_name("")
      ->required();
  d.text_option("--output", d.arguments.output, Message::help_import_output, "FILE")->required();
  d.text_option("--profile", d.arguments.profile, Message::help_profile, "h200|a100");
  declare_language(d);
}

void declare_check_config(const Declaration& d) {
  d.text_option("FILE", d.arguments.config, Message::help_config, "");
  d.app.add_flag("--default", d.arguments.show_default, d.help(Message::help_default));
  d.list_option("--set", d.arguments.settings, Message::help_set, "KEY=VALUE");
  declare_language(d);
}

// What is said to the running daemon.
void declare_order(const Declaration& d) {
  declare_language(d);
  d.text_option("--run-dir", d.arguments.run_folder, Message::help_run_folder, "DIR");
  d.text_option("--config", d.arguments.config, Message::help_config, "FILE");
  d.list_option("--set", d.arguments.settings, Message::help_set, "KEY=VALUE");
}

void declare_mark(const Declaration& d) {
  d.text_option("TEXT", d.arguments.mark, Message::help_mark_text, "")->required();
  declare_order(d);
}

// One thing can be done with a channel.
void declare_notify(const Declaration& d) {
  static constexpr std::string_view kTest = "test";
  const auto take = [spoken = d.language](const std::string& word) {
    if (word != kTest) throw CLI::ValidationError(say(spoken, Message::bad_notify, word));
  };
  d.app.add_option_function<std::string>("test", take, d.help(Message::help_notify_test))
      ->type_name("")
      ->required();
  d.text_option("CHANNEL", d.arguments.channel, Message::help_channel, "")->required();
  declare_language(d);
  d.text_option("--config", d.arguments.config, Message::help_config, "FILE");
  d.list_option("--set", d.arguments.settings, Message::help_set, "KEY=VALUE");
}

void declare_manual(const Declaration& d) {
  d.text_option("COMMAND", d.arguments.page, Message::help_manual_page, "");
  declare_language(d);
}

void declare_completions(const Declaration& d) {
  d.parsed_option("SHELL", d.arguments.shell, Message::help_shell, "", parse_shell,
                  Message::bad_shell)
      ->required();
  declare_language(d);
}

void declare_serve(const Declaration& d) {
  d.text_option("--config", d.arguments.config, Message::help_config, "FILE");
  d.text_option("--listen", d.arguments.listen, Message::help_listen, "ADDR:PORT");
  d.text_option("--run-dir", d.arguments.run_folder, Message::help_run_folder, "DIR");
  d.text_option("--data-dir", d.arguments.data_folder, Message::help_data_folder, "DIR");
  d.text_option("--nvml-library", d.arguments.nvml_library, Message::help_nvml_library, "FILE");
  d.text_option("--host-root", d.arguments.host_root, Message::help_host_root, "DIR");
  d.text_option("--kernel-log", d.arguments.kernel_log, Message::help_kernel_log, "FILE");
  d.text_option("--counters", d.arguments.counters, Message::help_counters, "FILE");
  d.text_option("--web-config", d.arguments.web_config, Message::help_web_config, "FILE");
  d.text_option("--demo", d.arguments.demo, Message::help_demo,
                "NAME[,NAME...]|all|DIR|scenario:NAME");
  d.text_option("--replay", d.arguments.replay, Message::help_replay, "FILE");
  d.list_option("--set", d.arguments.settings, Message::help_set, "KEY=VALUE");
  declare_language(d);
}

struct CommandRow {
  Command command;
  const char* name;
  Message help;
  void (*declare)(const Declaration&);
};

constexpr auto kCommands = std::to_array<CommandRow>({
    {Command::kServe, "serve", Message::help_serve, declare_serve},
    {Command::kDiscover, "discover", Message::help_discover, declare_discover},
    {Command::kGet, "get", Message::help_get, declare_get},
    {Command::kWatch, "watch", Message::help_watch, declare_watch},
    {Command::kHistory, "history", Message::help_history, declare_history},
    {Command::kEvents, "events", Message::help_events, declare_events},
    {Command::kProcesses, "processes", Message::help_processes, declare_processes},
    {Command::kFree, "free", Message::help_free, declare_free},
    {Command::kWhy, "why", Message::help_why, declare_why},
    {Command::kCatalog, "catalog", Message::help_catalog, declare_catalog},
    {Command::kDrain, "drain", Message::help_drain, declare_order},
    {Command::kResume, "resume", Message::help_resume, declare_order},
    {Command::kMark, "mark", Message::help_mark, declare_mark},
    {Command::kNotify, "notify", Message::help_notify, declare_notify},
    {Command::kRecord, "record", Message::help_record, declare_record},
    {Command::kImport, "import", Message::help_import, declare_import},
    {Command::kCheckConfig, "check-config", Message::help_check_config, declare_check_config},
    // For packages: not among what --help shows.
    {Command::kManual, "manual", Message::help_manual, declare_manual},
    {Command::kCompletions, "completions", Message::help_completions, declare_completions},
});

bool is_hidden(const CommandRow& row) {
  return row.command == Command::kManual || row.command == Command::kCompletions;
}

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
    declare_own_reading({app_, arguments, language});
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
      const auto row = std::find_if(kCommands.begin(), kCommands.end(), [&](const CommandRow& r) {
        return used.front()->get_name() == r.name;
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
      for (const CommandRow& row : kCommands) {
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
    for (const CommandRow& row : kCommands) {
      CLI::App* command = app_.add_subcommand(row.name, std::string(text(language_, row.help)));
      if (language_ == Language::kZh) command->group("命令");
      if (is_hidden(row)) command->group("");
      command->set_help_flag("-h,--help", std::string(text(language_, Message::help_help)));
      if (meant == row.name) {
        row.declare({*command, arguments_, language_});
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
  for (const CommandRow& row : kCommands) {
    if (is_hidden(row)) continue;
    CLI::App app;
    app.set_help_flag("-h,--help", std::string(text(language, Message::help_help)));
    row.declare({app, arguments, language});
    pages.push_back({row.name, std::string(text(language, row.help)), describe_options(app)});
  }
  return pages;
}

}  // namespace everywatt::app
