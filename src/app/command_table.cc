// SPDX-License-Identifier: Apache-2.0
// The commands and their options, declared to CLI11.
#include "app/command_table.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>

#include "app/command_page.h"
#include "base/text.h"

namespace everywatt::app {

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

namespace {

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
  // As the other commands have it.
  d.text_option("--config", d.arguments.config, Message::help_config, "FILE");
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
    {Command::kManual, "manual", Message::help_manual, declare_manual, Visibility::kHidden},
    {Command::kCompletions, "completions", Message::help_completions, declare_completions,
     Visibility::kHidden},
});

}  // namespace

std::span<const CommandRow> command_table() {
  return kCommands;
}

void declare_options(const CommandRow& row, CLI::App& app, Arguments& arguments,
                     Language language) {
  row.declare({app, arguments, language});
}

void declare_bare_options(CLI::App& app, Arguments& arguments, Language language) {
  declare_own_reading({app, arguments, language});
}

}  // namespace everywatt::app
