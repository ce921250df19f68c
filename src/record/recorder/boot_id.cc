// SPDX-License-Identifier: Apache-2.0
#include "record/recorder/boot_id.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::recorder {
namespace {

int hex_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return -1;
}

}  // namespace

BootId parse_boot_id(std::string_view text) {
  BootId id{};
  std::size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const int value = hex_value(c);
    if (value < 0 || digits == 2 * id.size()) return {};
    std::uint8_t& byte = id[digits / 2];
    byte = static_cast<std::uint8_t>(byte << 4 | value);
    ++digits;
  }
  return digits == 2 * id.size() ? id : BootId{};
}

BootId read_boot_id() {
  const auto text = base::read_file("/proc/sys/kernel/random/boot_id");
  return text ? parse_boot_id(base::trim(*text)) : BootId{};
}

std::string format_boot_id(const BootId& id) {
  std::string text;
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", id[i]);
  }
  return text;
}

}  // namespace everywatt::recorder
