// SPDX-License-Identifier: Apache-2.0
#include <csignal>

#include <algorithm>
#include <ctime>

#include "app/commands.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/recording.h"
#include "app/source.h"
#include "app/stop_signals.h"
#include "base/clock.h"

namespace everywatt::app {
namespace {

// Far below the time in which a daemon's ring comes round, and rare enough to cost nothing.
constexpr std::int64_t kTakeIntervalNs = 500'000'000;

// One that is ended by hand holds at least the hour before its end.
constexpr std::int64_t kOpenEndNs = 3600'000'000'000;

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

// True when a signal came meanwhile.
bool wait_for_stop(std::int64_t at_most_ns) {
  const sigset_t signals = stop_signals();
  const timespec timeout{.tv_sec = at_most_ns / 1'000'000'000,
                         .tv_nsec = at_most_ns % 1'000'000'000};
  return ::sigtimedwait(&signals, nullptr, &timeout) > 0;
}

base::Status keep_taking(const Arguments& arguments, const Source& source, Recording& recording) {
  const std::int64_t began_ns = base::boottime_ns();
  while (!source.view->is_replaced()) {
    std::int64_t wait_ns = kTakeIntervalNs;
    if (arguments.duration_ns) {
      wait_ns = std::min(wait_ns, began_ns + *arguments.duration_ns - base::boottime_ns());
    }
    const bool is_over = wait_ns <= 0 || wait_for_stop(wait_ns);
    if (auto taken = recording.take_new(); !taken) return taken;
    if (is_over) return {};
  }
  print_note(text(arguments.language, Message::record_replaced));
  return recording.take_new();
}

}  // namespace

base::Result<ExitCode> run_record(const Arguments& arguments, const Config& config) {
  const auto source = open_source(arguments, config, NoDaemon::kComplain);
  if (!source) return std::unexpected(source.error());
  if (auto allowed = check_replaceable(arguments.output); !allowed) {
    return std::unexpected(allowed.error());
  }
  survive_failed_writes();
  const bool is_going_on = is_live(source->view->recorder(), base::boottime_ns());
  const sigset_t signals = stop_signals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const auto recording = Recording::open(
      *source->view, {.path = arguments.output,
                      .duration_ns = is_going_on ? arguments.duration_ns.value_or(kOpenEndNs) : 0,
                      .with_identities = !arguments.without_identities});
  if (!recording) return std::unexpected(recording.error());
  if (is_going_on) {
    if (!arguments.duration_ns) {
      print_note(say(arguments.language, Message::record_going_on, arguments.output));
    }
    if (auto kept = keep_taking(arguments, *source, **recording); !kept) {
      return std::unexpected(kept.error());
    }
  }
  (*recording)->close();
  print_note(say(arguments.language, Message::record_done, arguments.output, (*recording)->rows(),
                 (*recording)->lost_rows()));
  return kFine;
}

}  // namespace everywatt::app
