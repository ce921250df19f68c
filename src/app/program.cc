// SPDX-License-Identifier: Apache-2.0
#include "app/program.h"

#include <algorithm>
#include <string>
#include <vector>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/config.h"
#include "app/dcgm_exporter.h"
#include "app/inherited.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/part.h"
#include "app/translation.h"
#include "base/check.h"
#include "base/log.h"

namespace everywatt::app {
namespace {

// Options that are keys of the configuration, too, come after --set.
void read_options(const Arguments& arguments, ConfigReading& reading) {
  const auto read = [&](const char* option, const char* key, const std::string& value) {
    if (!value.empty()) read_option(option, key, value, arguments.language, reading);
  };
  read("--run-dir", "run.folder", arguments.run_folder);
  read("--data-dir", "data.folder", arguments.data_folder);
  read("--nvml-library", "driver.library", arguments.nvml_library);
  read("--host-root", "host.root", arguments.host_root);
  read("--kernel-log", "host.kernel_log", arguments.kernel_log);
  read("--listen", "serve.listen", arguments.listen);
  read("--counters", "serve.counters", arguments.counters);
  read("--web-config", "serve.web_config", arguments.web_config);
}

// The configuration of a command that needs one; the first fault is the error.
base::Result<Config> load_config(const Arguments& arguments) {
  auto reading = read_config(arguments.config, arguments.settings, arguments.language);
  if (!reading) return std::unexpected(reading.error());
  read_options(arguments, *reading);
  if (!reading->faults.empty()) {
    const std::size_t others = reading->faults.size() - 1;
    return base::fail(base::Code::kInvalidArgument, reading->faults.front(),
                      others == 0 ? "" : say(arguments.language, Message::config_more, others));
  }
  if (arguments.command == Command::kServe) {
    for (const std::string& note : reading->notes) {
      print_note(note);
    }
  }
  return reading->config;
}

base::Result<ExitCode> run_with_config(const Arguments& arguments) {
  const base::Result<Config> config = load_config(arguments);
  if (!config) return std::unexpected(config.error());
  base::set_log_level(config->log_level);
  switch (arguments.command) {
    case Command::kOverview:
      return run_overview(arguments, *config);
    case Command::kServe:
      return run_serve(arguments, *config);
    case Command::kDiscover:
      return run_discover(arguments, *config);
    case Command::kGet:
      return run_get(arguments, *config);
    case Command::kWatch:
      return run_watch(arguments, *config);
    case Command::kHistory:
      return run_history(arguments, *config);
    case Command::kEvents:
      return run_events(arguments, *config);
    case Command::kProcesses:
      return run_processes(arguments, *config);
    case Command::kFree:
      return run_free(arguments, *config);
    case Command::kWhy:
      return run_why(arguments, *config);
    case Command::kRecord:
      return run_record(arguments, *config);
    case Command::kDrain:
      return run_drain(arguments, *config);
    case Command::kResume:
      return run_resume(arguments, *config);
    case Command::kMark:
      return run_mark(arguments, *config);
    case Command::kNotify:
      return run_notify(arguments, *config);
    case Command::kShowText:
    case Command::kCatalog:
    case Command::kImport:
    case Command::kCheckConfig:
    case Command::kManual:
    case Command::kCompletions:
      break;
  }
  CHECK(false);
  return kBadUsage;
}

base::Result<ExitCode> run_command(const Arguments& arguments) {
  switch (arguments.command) {
    case Command::kShowText:
      print(arguments.shown);
      return kFine;
    case Command::kCatalog:
      return run_catalog(arguments);
    case Command::kImport:
      return run_import(arguments);
    case Command::kCheckConfig:
      return run_check_config(arguments);
    case Command::kManual:
      return run_manual(arguments);
    case Command::kCompletions:
      return run_completions(arguments);
    default:
      return run_with_config(arguments);
  }
}

int finish(const base::Result<ExitCode>& code, Language language) {
  if (code) return *code;
  print_error(translate(code.error(), language));
  return exit_code(code.error().code);
}

// Started under that program's name: its flags stand for ours.
base::Result<std::vector<std::string>> words_of_dcgm_exporter(const std::vector<std::string>& words,
                                                              Language language) {
  auto start = translate_dcgm_exporter(words, real_world(), language);
  if (!start) return std::unexpected(start.error());
  for (const std::string& note : start->notes) {
    print_note(note);
  }
  return std::move(start->words);
}

bool asks_for_help(const std::vector<std::string>& words) {
  return std::ranges::any_of(
      words, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

bool asks_for_version(const std::vector<std::string>& words) {
  return std::ranges::any_of(
      words, [](const std::string& word) { return word == "--version" || word == "-v"; });
}

}  // namespace

int run_program(int argc, char** argv) {
  fill_standard_descriptors();
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (argc > 0 && is_dcgm_exporter(argv[0])) {
    const Language language = language_of_environment();
    if (asks_for_help(words)) {
      print(dcgm_exporter_help(language));
      return kFine;
    }
    if (asks_for_version(words)) {
      words = {"--version"};
    } else {
      auto ours = words_of_dcgm_exporter(words, language);
      if (!ours) return finish(std::unexpected(ours.error()), language);
      words = *std::move(ours);
    }
  }
  if (!words.empty() && words.front() == kPartCommand) {
    return finish(run_part({words.begin() + 1, words.end()}), Language::kEn);
  }
  const base::Result<Arguments> arguments = parse_command_line(words, language_of_environment());
  if (!arguments) {
    print_error(arguments.error());
    return kBadUsage;
  }
  return finish(run_command(*arguments), arguments->language);
}

}  // namespace everywatt::app
