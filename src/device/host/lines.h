// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace everywatt::host {

// How the kernel's text files are taken apart: forward, without copies. Views point into the text.

// Cuts the part before the first `separator` off `rest` and returns it; all of it if there is none.
std::string_view take_until(std::string_view& rest, char separator);

// Cuts the next word off `rest`: blanks, tabs and line ends separate. "" at the end.
std::string_view take_word(std::string_view& rest);

// Cuts the next word off `rest` as a number. Nothing: no word or not a number.
std::optional<std::uint64_t> take_u64(std::string_view& rest);

// The rest of the first line that starts with `key`, without blanks around it: "Threads:" in
// /proc/PID/status, "usage_usec" in cpu.stat. Nothing: there is no such line.
std::optional<std::string_view> find_line(std::string_view text, std::string_view key);

// The number at the start of that line's rest.
std::optional<std::uint64_t> find_number(std::string_view text, std::string_view key);

// `value` in units of `scale`, or nothing where the product does not fit.
std::optional<std::uint64_t> scaled(std::optional<std::uint64_t> value, std::uint64_t scale);

}  // namespace everywatt::host
