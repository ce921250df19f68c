// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/source.h"
#include "app/stop_signals.h"
#include "record/importer/importer.h"

namespace everywatt::app {

base::Result<ExitCode> run_import(const Arguments& arguments) {
  if (auto allowed = check_replaceable(arguments.output); !allowed) {
    return std::unexpected(allowed.error());
  }
  survive_failed_writes();
  const auto stems = importer::find_stems(arguments.inputs);
  if (!stems) return std::unexpected(stems.error());
  const auto summary = importer::import_traces(
      {.stems = *stems, .output = arguments.output, .profile = arguments.profile});
  if (!summary) return std::unexpected(summary.error());
  print(say(arguments.language, Message::import_done, arguments.output, summary->gpus,
            summary->rows, static_cast<double>(summary->duration_ns) / 1e9) +
        "\n");
  return kFine;
}

}  // namespace everywatt::app
