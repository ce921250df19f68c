// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace everywatt::notify {
namespace {

constexpr std::size_t kTailNamesBytes = 400;
// What the line at the end takes at most: names of alerts in which every character costs more than
// one byte are rare, but they exist.
constexpr std::size_t kTailCost = 900;

// The longest front of at most `limit_bytes` that ends at a character's border; at least one
// character.
std::size_t front_bytes(std::string_view text, std::size_t limit_bytes) {
  if (text.size() <= limit_bytes) return text.size();
  const auto is_inside = [&](std::size_t i) {
    return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xc0) == 0x80;
  };
  std::size_t end = limit_bytes;
  while (end > 0 && is_inside(end))
    --end;
  if (end > 0) return end;
  for (end = 1; is_inside(end);)
    ++end;
  return end;
}

class Splitter {
 public:
  Splitter(const Message& message, Style style, const Limits& limits)
      : message_(message), style_(style), limits_(limits) {}

  std::vector<Part> split() {
    if (!message_.is_digest) {
      parts_.clear();
      add_head();
      add_full(message_.entries.size(), kPartsLimit);
      if (parts_.size() <= kPartsLimit) return std::move(parts_);
    }
    start_again();
    add_head();
    const std::size_t full = message_.is_digest ? 0 : add_full(message_.entries.size(), kFullParts);
    add_brief(full);
    return std::move(parts_);
  }

 private:
  std::size_t cost(std::string_view text) const { return limits_.cost(text); }
  std::size_t cost_of_block(std::string_view text) const { return cost(text) + limits_.between; }

  void start_again() {
    parts_.clear();
    used_ = 0;
  }

  bool fits(std::size_t blocks_cost, std::size_t blocks) const {
    return !parts_.empty() && used_ + blocks_cost <= limits_.part &&
           parts_.back().blocks.size() + blocks <= limits_.blocks;
  }

  void start_part() {
    parts_.emplace_back();
    used_ = 0;
  }

  void add_block(std::string text) {
    const std::size_t text_cost = cost_of_block(text);
    if (!fits(text_cost, 1)) start_part();
    used_ += text_cost;
    parts_.back().blocks.push_back(std::move(text));
  }

  void add_head() {
    for (const std::string& block : write_blocks(message_.head))
      add_block(block);
  }

  // Pieces of one line, each of which fits into a block.
  std::vector<std::string> write_pieces(const Line& line) const {
    std::string whole = write_line(style_, line);
    if (cost(whole) <= room()) return {std::move(whole)};
    std::vector<std::string> pieces;
    // An address is no text that can be read in pieces.
    if (line.kind == LineKind::kLink) return pieces;
    Line piece = line;
    std::string_view rest = line.text;
    while (!rest.empty()) {
      std::size_t size = front_bytes(rest, room());
      std::string written;
      while (true) {
        piece.text = rest.substr(0, size);
        written = write_line(style_, piece);
        if (cost(written) <= room() || size <= 4) break;
        size = front_bytes(rest, size * 3 / 4);
      }
      pieces.push_back(std::move(written));
      rest.remove_prefix(size);
      piece.kind = LineKind::kNote;  // goes on without its label
    }
    return pieces;
  }

  // A block that is not alone in its part has company that costs, too.
  std::size_t room() const { return std::min(limits_.block, limits_.part - limits_.between); }

  std::vector<std::string> write_blocks(const std::vector<Line>& lines) const {
    std::vector<std::string> blocks;
    const std::string_view line_end = line_break(style_);
    for (const Line& line : lines) {
      for (std::string& piece : write_pieces(line)) {
        const bool fits_last =
            !blocks.empty() && cost(blocks.back()) + cost(line_end) + cost(piece) <= room();
        if (fits_last) {
          blocks.back().append(line_end).append(piece);
        } else {
          blocks.push_back(std::move(piece));
        }
      }
    }
    return blocks;
  }

  // Returns how many entries found room in `parts` parts: all that were begun were also ended. With
  // kPartsLimit it stops as soon as one part more was begun.
  std::size_t add_full(std::size_t count, std::size_t parts) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::vector<std::string> blocks = write_blocks(message_.entries[i].lines);
      std::size_t all = 0;
      for (const std::string& block : blocks)
        all += cost_of_block(block);
      const std::size_t parts_before = parts_.size();
      const std::size_t blocks_before = parts_.empty() ? 0 : parts_.back().blocks.size();
      const std::size_t used_before = used_;
      // Whole in the next part rather than in two.
      const bool is_for_next = !fits(all, blocks.size()) && all <= limits_.part;
      if (is_for_next || parts_.empty()) start_part();
      for (const std::string& block : blocks)
        add_block(block);
      if (parts_.size() > parts) {
        if (parts == kPartsLimit) return i;
        parts_.resize(parts_before);
        if (!parts_.empty()) parts_.back().blocks.resize(blocks_before);
        used_ = used_before;
        return i;
      }
    }
    return count;
  }

  void add_brief(std::size_t first) {
    const std::string_view line_end = line_break(style_);
    std::string block;
    std::size_t i = first;
    for (; i < message_.entries.size(); ++i) {
      const std::string line = brief_line(message_.entries[i]);
      const std::string next = block.empty() ? line : block + std::string(line_end) + line;
      const bool is_last_part = parts_.size() == kPartsLimit;
      const std::size_t reserve = is_last_part && i + 1 < message_.entries.size() ? tail_cost() : 0;
      if (cost(next) <= room() && fits(cost_of_block(next) + reserve, 1)) {
        block = next;
        continue;
      }
      const bool block_stays_here = !block.empty();
      if (block_stays_here) add_block(std::exchange(block, {}));
      if (!fits(cost_of_block(line) + reserve, 1)) {
        if (is_last_part) break;
        start_part();
      }
      block = line;
    }
    if (!block.empty()) add_block(std::move(block));
    if (i < message_.entries.size()) add_block(tail(i));
  }

  std::size_t tail_cost() const { return kTailCost + limits_.between; }

  std::string brief_line(const Entry& entry) const { return write_pieces(entry.brief).front(); }

  std::string tail(std::size_t first) const {
    std::vector<std::string_view> names;
    for (std::size_t i = first; i < message_.entries.size(); ++i) {
      names.push_back(message_.entries[i].name);
    }
    // Escaping may lengthen it, in Feishu's cards by five for one.
    for (std::size_t limit_bytes = kTailNamesBytes;; limit_bytes /= 2) {
      const std::string text = fmt::format(fmt::runtime(message_.words->and_more), names.size(),
                                           count_names(names, *message_.words, limit_bytes));
      std::string line = escape(style_, text);
      if (cost(line) <= kTailCost || limit_bytes == 0) return line;
    }
  }

  const Message& message_;
  Style style_;
  const Limits& limits_;
  std::vector<Part> parts_;
  std::size_t used_ = 0;  // of the last part
};

}  // namespace

std::size_t plain_cost(std::string_view text) {
  return text.size();
}

std::size_t json_cost(std::string_view text) {
  std::size_t bytes = text.size();
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n') {
      ++bytes;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      bytes += 5;
    }
  }
  return bytes;
}

std::vector<Part> split(const Message& message, Style style, const Limits& limits) {
  CHECK(limits.block >= 1000 && limits.part >= limits.block);
  return Splitter(message, style, limits).split();
}

}  // namespace everywatt::notify
