// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "serve/notify/channel_options.h"

namespace everywatt::notify {

// What messages say of themselves. {} are filled by fmt; no word holds what a markup would take for
// its own.
struct Words {
  std::string_view firing;
  std::string_view resolved;
  std::string_view gpu;
  std::string_view host;
  std::string_view summary;
  std::string_view description;
  std::string_view value;
  std::string_view since;
  std::string_view from;
  std::string_view until;
  std::string_view lasted;
  std::string_view labels;
  std::string_view source;
  std::string_view runbook;
  std::string_view dashboard;
  std::string_view other_names;  // {} of them
  std::string_view digest;       // {} notifications
  std::string_view digest_note;  // why
  std::string_view truncated;    // {} alerts
  std::string_view and_more;     // {} alerts, {} their names
  std::string_view and_names;    // {} names
  std::string_view comma;
  std::string_view sample_summary;
  std::string_view sample_description;
};

const Words& words_of(Language language);

}  // namespace everywatt::notify
