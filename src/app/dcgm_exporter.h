// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/language.h"
#include "base/result.h"

namespace everywatt::app {

// Started under the name `dcgm-exporter`, the program takes that program's flags and environment,
// listens where it does and serves DCGM's names.
bool is_dcgm_exporter(std::string_view program_path);

struct DcgmExporterStart {
  std::vector<std::string> words;  // of our own command line: serve --set ...
  std::vector<std::string> notes;  // one line for each thing that was asked for and has no effect
};

// What it is told from outside, so that a test can tell it otherwise.
struct DcgmExporterWorld {
  std::function<std::optional<std::string>(const char* variable)> environment;
  std::function<bool(const char* path)> has_file;
};
DcgmExporterWorld real_world();

// Flags go before the environment, as there. kInvalidArgument: an unknown flag or a value that it
// does not take, in one line.
base::Result<DcgmExporterStart> translate_dcgm_exporter(const std::vector<std::string>& words,
                                                        const DcgmExporterWorld& world,
                                                        Language language);

// Each flag with what it does here.
std::string dcgm_exporter_help(Language language);

}  // namespace everywatt::app
