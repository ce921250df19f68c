// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace everywatt::app {

enum class Align { kLeft, kRight };

// Whether the headings stand out, which only a terminal can show.
enum class Emphasis { kNone, kHeadings };

// Text in columns for a terminal: two blanks between them, widths by what a terminal shows (a
// Chinese character takes two places), no blanks at a line's end. Pure.
class Table {
 public:
  struct Heading {
    std::string text;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Heading> headings) : headings_(std::move(headings)) {}

  // Control characters and what is not UTF-8 are replaced. REQUIRES: as many cells as headings.
  void add(std::vector<std::string> cells);
  std::size_t rows() const { return rows_.size(); }

  // The headings and the rows, a line each.
  std::string format(Emphasis emphasis = Emphasis::kNone) const;

 private:
  std::vector<Heading> headings_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace everywatt::app
