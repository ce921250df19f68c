// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/control_socket.h"
#include "app/exit_code.h"
#include "app/listener.h"
#include "app/marks.h"
#include "app/recorder_files.h"
#include "app/run_folder.h"
#include "base/result.h"

namespace everywatt::app {

// A process beside the parts, which they need: the demo's player. Nothing: no such process.
struct Companion {
  std::string program;
  std::vector<std::string> arguments;
};

// What the courier gets. Nothing: nothing is to be sent, or there is no place for what waits.
struct CourierNeeds {
  base::UniqueFd spool;
  std::vector<std::pair<std::string, std::string>> environment;
};

struct SupervisorOptions {
  Config config;
  RunFolder folder;
  RecorderFiles files;
  Listener listener;
  web::Scheme scheme = web::Scheme::kHttp;  // what the server speaks there
  std::optional<ControlSocket> control;     // nothing: nobody gives orders
  std::optional<Marks> marks;               // nothing: nobody leaves marks
  std::vector<std::string> pci_addresses;
  std::optional<Companion> companion;
  std::optional<CourierNeeds> courier;
  // What the sampler's process finds in its environment beside ours.
  std::vector<std::pair<std::string, std::string>> sampler_environment;
  std::string note;  // "demo"; "" when live
};

// Starts the sampler, the host process, the server and the courier, replaces what dies (the sampler
// by rules of its own, see SamplerKeeper), and ends them all on SIGTERM or SIGINT. Parses nothing
// that comes from outside. One thread: the one that calls.
class Supervisor {
 public:
  static base::Result<std::unique_ptr<Supervisor>> open(SupervisorOptions options);
  ~Supervisor();

  // Until a signal ends it.
  base::Result<ExitCode> run();

  // Ends the sampler, so that nothing of the driver is left in our processes, and starts none until
  // resume(). See SamplerKeeper::drain(). From the thread of run(), which may wait for 2 s in it.
  base::Status drain();
  void resume();

 private:
  struct State;
  explicit Supervisor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace everywatt::app
