// SPDX-License-Identifier: Apache-2.0
#include "app/table.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace everywatt::app {
namespace {

// Longer than any cell of ours; a forged recording may hold anything.
constexpr std::size_t kCellLimitBytes = 1024;

// What a terminal obeys.
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kPlain = "\x1b[0m";

void append_cell(std::string& line, const std::string& text, std::size_t width, Align align) {
  const std::size_t blanks = width - std::min(width, base::display_width(text));
  if (align == Align::kRight) line.append(blanks, ' ');
  line += text;
  if (align == Align::kLeft) line.append(blanks, ' ');
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  CHECK(cells.size() == headings_.size());
  for (std::string& cell : cells) {
    cell = base::clean_text(cell, kCellLimitBytes);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::format(Emphasis emphasis) const {
  std::vector<std::string> first;
  for (const Heading& heading : headings_) {
    first.push_back(heading.text);
  }
  std::vector<std::size_t> widths(headings_.size());
  const auto widen = [&widths](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      widths[i] = std::max(widths[i], base::display_width(cells[i]));
    }
  };
  widen(first);
  for (const auto& row : rows_) {
    widen(row);
  }
  std::string out;
  const auto format_row = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += "  ";
      append_cell(line, cells[i], widths[i], headings_[i].align);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  const bool is_bold = emphasis == Emphasis::kHeadings;
  out += (is_bold ? kBold : "") + format_row(first) + (is_bold ? kPlain : "") + '\n';
  for (const auto& row : rows_) {
    out += format_row(row) + '\n';
  }
  return out;
}

}  // namespace everywatt::app
