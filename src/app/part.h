// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/config.h"
#include "app/exit_code.h"
#include "base/result.h"
#include "base/unique_fd.h"

// The hidden command `everywatt part NAME`: one of the processes that the supervisor starts. It
// gets its descriptors under fixed numbers, the configuration as text in one of them.
namespace everywatt::app {

// Descriptors, in this order from kFirstChildFd on:
//   sampler   settings, recorder
//   host      settings, recorder, identities
//   server    settings, listening socket, folder of the files; with "marks": the socket for marks,
//             the journal; with "courier": the door to it
//   courier   settings, folder of the files, the door to the server, the folder for what waits
inline constexpr std::string_view kPartCommand = "part";
inline constexpr std::string_view kSamplerPart = "sampler";
inline constexpr std::string_view kHostPart = "host";
inline constexpr std::string_view kServerPart = "server";
inline constexpr std::string_view kCourierPart = "courier";

// Words after the part's name: "pci=0000:01:00.0,...", "fenced=0,2", "events=off" and
// "slots=fixed" (sampler), "note=demo", "marks" and "courier" (server), "parent=PID" (all).
struct PartWords {
  pid_t parent = 0;
  std::vector<std::string> pci_addresses = {};
  std::vector<std::uint32_t> fenced = {};
  bool has_events = true;
  bool has_fixed_slots = false;  // there is no larger recorder to ask for
  std::string note = {};
  bool has_marks = false;
  bool has_courier = false;
};
std::vector<std::string> format_part_words(std::string_view part, const PartWords& words);
base::Result<PartWords> parse_part_words(const std::vector<std::string>& words);

// The sampler's exit status when there is a GPU for which the recorder has no slot.
inline constexpr int kNoSlotLeft = 10;

// A file without a name that holds the settings, for the child to read.
base::Result<base::UniqueFd> make_settings_fd(const Config& config);

// Runs the part until SIGTERM. `words` are those after `part`.
base::Result<ExitCode> run_part(const std::vector<std::string>& words);

}  // namespace everywatt::app
