// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/commands.h"
#include "app/json_text.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/source.h"
#include "read/view/idle.h"

namespace everywatt::app {

base::Result<ExitCode> run_free(const Arguments& arguments, const Config& config) {
  const auto source = open_source(arguments, config, NoDaemon::kComplain);
  if (!source) return std::unexpected(source.error());
  std::vector<view::Device> idle =
      view::find_idle(*source->view, {.free_at_least_bytes = arguments.memory_bytes});
  const std::size_t found = idle.size();
  if (found > arguments.free_count) idle.resize(arguments.free_count);
  if (arguments.form == OutputForm::kJson) {
    JsonText json;
    json.begin_object().key("idle").number(found).key("uuids").begin_array();
    for (const view::Device& device : idle) {
      json.string(device.uuid);
    }
    json.end_array().end_object();
    print(json.take() + "\n");
  } else if (!idle.empty()) {
    // In the form of CUDA_VISIBLE_DEVICES.
    std::string line;
    for (const view::Device& device : idle) {
      line += (line.empty() ? "" : ",") + device.uuid;
    }
    print(line + "\n");
  }
  if (found >= arguments.free_count) return kFine;
  print_note(say(arguments.language, Message::free_too_few, found, arguments.free_count));
  return kNeedsLook;
}

}  // namespace everywatt::app
