// SPDX-License-Identifier: Apache-2.0
#include "app/part_work.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <csignal>

#include <thread>

#include "base/clock.h"
#include "base/unique_fd.h"

namespace everywatt::app {
namespace {

constexpr int kHeartbeatMs = 500;

}  // namespace

base::Result<ExitCode> work_until_stopped(
    recorder::PartSlot* slot, const std::function<base::Status(const std::stop_token&)>& work) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  // Before the thread starts, which inherits it.
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  base::UniqueFd stop_fd(::signalfd(-1, &signals, SFD_CLOEXEC));
  base::UniqueFd ended_fd(::eventfd(0, EFD_CLOEXEC));
  if (!stop_fd.is_open() || !ended_fd.is_open()) return base::fail_errno("wait for", "signals");
  base::Status outcome;
  std::jthread worker([&](const std::stop_token& stop) {
    outcome = work(stop);
    ::eventfd_write(ended_fd.get(), 1);
  });
  pollfd waited[] = {{.fd = stop_fd.get(), .events = POLLIN, .revents = 0},
                     {.fd = ended_fd.get(), .events = POLLIN, .revents = 0}};
  while (waited[0].revents == 0 && waited[1].revents == 0) {
    if (slot != nullptr) {
      slot->heartbeat_ns.store(static_cast<std::uint64_t>(base::boottime_ns()));
    }
    ::poll(waited, 2, kHeartbeatMs);
  }
  worker.request_stop();
  worker.join();
  if (!outcome) return std::unexpected(outcome.error());
  return kFine;
}

}  // namespace everywatt::app
