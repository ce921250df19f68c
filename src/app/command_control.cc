// SPDX-License-Identifier: Apache-2.0
//
// What is said to the running daemon: drain, resume, mark.
#include <fmt/format.h>

#include "app/commands.h"
#include "app/control.h"
#include "app/json_text.h"
#include "app/marks.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/source.h"

namespace everywatt::app {
namespace {

struct Words {
  Message done;
  Message already;
};

base::Result<ExitCode> give_order(const Arguments& arguments, const Config& config,
                                  ControlVerb verb, const Words& words) {
  const auto folder = find_daemon(config);
  if (!folder) return std::unexpected(folder.error());
  const auto answer = ask_daemon(*folder, verb);
  if (!answer) return std::unexpected(answer.error());
  switch (answer->status) {
    case ControlStatus::kDone:
      print(say(arguments.language, words.done) + "\n");
      return kFine;
    case ControlStatus::kAlready:
      print(say(arguments.language, words.already) + "\n");
      return kFine;
    case ControlStatus::kFailed:
      return base::fail(base::Code::kIo, answer->text);
    case ControlStatus::kRefused:
      break;
  }
  return base::fail(base::Code::kNoPermission, answer->text);
}

}  // namespace

base::Result<ExitCode> run_drain(const Arguments& arguments, const Config& config) {
  return give_order(arguments, config, ControlVerb::kDrain,
                    {.done = Message::drain_done, .already = Message::drain_already});
}

base::Result<ExitCode> run_resume(const Arguments& arguments, const Config& config) {
  return give_order(arguments, config, ControlVerb::kResume,
                    {.done = Message::resume_done, .already = Message::resume_already});
}

base::Result<ExitCode> run_mark(const Arguments& arguments, const Config& config) {
  const auto folder = find_daemon(config);
  if (!folder) return std::unexpected(folder.error());
  JsonText message;
  message.begin_object().key("text").string(arguments.mark).end_object();
  if (auto sent = send_mark(*folder, message.text()); !sent) return std::unexpected(sent.error());
  return kFine;
}

}  // namespace everywatt::app
