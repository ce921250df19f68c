// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/notify/notification.h"
#include "serve/notify/words.h"

namespace everywatt::notify {

// How a message looks at first sight.
enum class Tone { kCritical, kWarning, kInfo, kResolved };

enum class LineKind {
  kHeading,  // label: what it is, in the tone's colour; text: of what
  kPair,     // label and text
  kLink,     // label, which leads to url
  kNote,     // text alone
};

// One line, without markup. Label and text are plain: who writes them for a channel escapes both.
struct Line {
  LineKind kind = LineKind::kNote;
  std::string label{};
  std::string text{};
  std::string url{};
  Tone tone = Tone::kInfo;

  bool operator==(const Line&) const = default;
};

// One alert, in full and in one line.
struct Entry {
  std::string name{};
  std::vector<Line> lines{};
  Line brief{};
};

// A notification as people read it, for no channel yet. Alerts that fire stand first, by severity.
struct Message {
  const Words* words = nullptr;
  std::string title{};
  Tone tone = Tone::kInfo;
  bool is_digest = false;  // entries are shown briefly
  std::vector<Line> head{};
  std::vector<Entry> entries{};
  Line foot{};  // in each part; names Everywatt, which a robot may ask for as its keyword
};

Message compose(const Notification& notification, Language language);

// One alert in one line.
Line compose_brief(const Alert& alert, Language language);

// Which GPU and which host an alert is about, whatever its exporter calls the label; or nothing.
std::string_view gpu_of(const Alert& alert);
std::string_view host_of(const Alert& alert);

// "A ×3, B": names and how often, at most `limit_bytes` of it, and then of how many more.
std::string count_names(const std::vector<std::string_view>& names, const Words& words,
                        std::size_t limit_bytes);

}  // namespace everywatt::notify
