// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/language.h"

namespace everywatt::app {

enum class Command {
  kOverview,
  kServe,
  kDiscover,
  kGet,
  kWatch,
  kHistory,
  kEvents,
  kProcesses,
  kFree,
  kCatalog,
  kWhy,
  kRecord,
  kImport,
  kCheckConfig,
  kDrain,
  kResume,
  kMark,
  kNotify,
  kManual,
  kCompletions,
  kShowText,  // --help, --version: `shown` is all there is to do
};

enum class OutputForm { kText, kJson, kMarkdown };

// What the command line says, in typed form. Members that a command does not know keep their
// defaults; empty text means not given.
struct Arguments {
  Command command = Command::kOverview;
  std::string shown;

  Language language = Language::kEn;
  OutputForm form = OutputForm::kText;

  // Where to read from and what to run on.
  std::string recorder;  // --recorder FILE
  std::string run_folder;
  std::string data_folder;
  std::string config;
  std::string nvml_library;
  std::string host_root;
  std::string kernel_log;
  std::string counters;
  std::string web_config;
  std::string listen;
  std::string demo;
  std::string replay;
  std::vector<std::string> settings;  // --set key=value

  // What to show.
  std::vector<std::string> metrics;
  std::vector<std::string> gpus;  // none: all
  std::int64_t since_ns = 600'000'000'000;
  std::optional<std::int64_t> until_ns;  // before now
  std::optional<std::int64_t> step_ns;
  std::int64_t interval_ns = 1'000'000'000;
  std::optional<std::uint64_t> times;  // watch: so many lines
  bool follow = false;
  std::uint64_t free_count = 1;
  std::uint64_t memory_bytes = 0;
  bool show_default = false;  // check-config --default

  std::string mark;     // mark TEXT
  std::string channel;  // notify test CHANNEL
  std::string page;     // manual [COMMAND]
  std::string shell;    // completions bash|zsh|fish

  // What to write.
  std::string output;                       // record FILE, import --output FILE
  std::vector<std::string> inputs;          // import TRACE_OR_DIR...
  std::string profile = "h200";             // import --profile
  std::optional<std::int64_t> duration_ns;  // record --for
  bool without_identities = false;          // record --no-identities
};

}  // namespace everywatt::app
