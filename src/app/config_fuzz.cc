// SPDX-License-Identifier: Apache-2.0
#include "app/config.h"

#include <algorithm>
#include <string>

#include "base/fuzz_target.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

ConfigReading read(std::string_view text) {
  static const Config defaults = default_config();
  ConfigReading reading{.config = defaults, .faults = {}, .notes = {}};
  read_config_text(text, "e.toml", Language::kEn, reading);
  return reading;
}

// "e.toml:LINE: ", and the line is one of the file.
void judge_place(std::string_view message, std::size_t lines) {
  constexpr std::string_view kName = "e.toml:";
  CHECK(message.starts_with(kName));
  message.remove_prefix(kName.size());
  const std::size_t colon = message.find(": ");
  CHECK(colon != std::string_view::npos);
  const auto line = base::parse_u64(message.substr(0, colon));
  CHECK(line && *line >= 1 && *line <= lines);
}

}  // namespace

// A configuration file, and one setting: what is wrong is said with its line, what is right reaches
// the other processes as it is.
FUZZ_TARGET(config) {
  const ConfigReading reading = read(bytes);
  const auto lines = static_cast<std::size_t>(std::ranges::count(bytes, '\n')) + 1;
  for (const std::string& fault : reading.faults)
    judge_place(fault, lines);
  for (const std::string& note : reading.notes)
    judge_place(note, lines);
  const ConfigReading again = read(reading.config.settings);
  CHECK(again.faults.empty());
  CHECK(again.config.settings == reading.config.settings);

  ConfigReading one{.config = {}, .faults = {}, .notes = {}};
  read_setting(bytes.substr(0, bytes.find('\n')), Language::kEn, one);
  for (const std::string& fault : one.faults)
    CHECK(fault.starts_with("--set: "));
}

}  // namespace everywatt::app
