// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "serve/notify/markup.h"
#include "serve/notify/message.h"

namespace everywatt::notify {

// Bytes that a text takes where the channel counts them.
using Cost = std::size_t (*)(std::string_view text);
std::size_t plain_cost(std::string_view text);
std::size_t json_cost(std::string_view text);  // within a JSON string, without its quotes

// How much fits into one message, beside title, foot and envelope.
struct Limits {
  std::size_t part = 0;       // of all blocks together
  std::size_t block = 0;      // of one block; at most `part`
  std::size_t blocks = 1000;  // in a part
  std::size_t between = 0;    // what each block costs beside its text
  Cost cost = plain_cost;
};

// One message: texts in the channel's markup, each what a person reads as one thing.
struct Part {
  std::vector<std::string> blocks;
};

// More messages than these about one notification nobody reads, and they would eat the budget.
inline constexpr std::size_t kFullParts = 2;
inline constexpr std::size_t kPartsLimit = 5;

// Spreads the alerts over as few parts as hold them: between alerts where it can, else between
// lines, else between characters. If more than kPartsLimit were needed, those behind kFullParts are
// shown by their one line, and what still finds no room by name and count at the end: each alert is
// in exactly one of the three. REQUIRES: limits.block >= 1000.
std::vector<Part> split(const Message& message, Style style, const Limits& limits);

}  // namespace everywatt::notify
