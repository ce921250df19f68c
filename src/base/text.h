// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace everywatt::base {

// Pure functions on text. Views returned point into the argument.

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
// Splits at runs of blanks and tabs; no empty parts.
std::vector<std::string_view> split_words(std::string_view text);
std::string to_lower(std::string_view text);

// The whole of `text` as a number, or nothing. No blanks, no sign for the unsigned one.
std::optional<std::uint64_t> parse_u64(std::string_view text);
std::optional<std::int64_t> parse_i64(std::string_view text);
std::optional<double> parse_f64(std::string_view text);  // finite only

// "250ms", "10m", "1.5h", "90" (seconds), "1d" -> nanoseconds; nothing when it is not a duration >=
// 0.
std::optional<std::int64_t> parse_duration_ns(std::string_view text);
// "20GiB", "512 MB", "1048576" -> bytes.
std::optional<std::uint64_t> parse_bytes(std::string_view text);

// Replaces what is not UTF-8 by U+FFFD and what controls a terminal or the direction of text by a
// blank, cuts at `limit_bytes` on a character border. For text that a workload controls, before
// anybody shows it.
std::string clean_text(std::string_view text, std::size_t limit_bytes);

// The name in `known` nearest to `word` by edit distance, if near enough to suggest.
std::optional<std::string_view> nearest(std::string_view word,
                                        const std::vector<std::string_view>& known);

// Columns that a terminal uses for UTF-8 `text` (CJK and emoji count two, combining marks none).
std::size_t display_width(std::string_view text);

}  // namespace everywatt::base
