// SPDX-License-Identifier: Apache-2.0
#include "device/host/users.h"

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

constexpr std::size_t kPasswdBytes = 4u << 20;
constexpr std::size_t kNameBytes = 64;

}  // namespace

std::optional<std::string_view> find_user(std::string_view passwd, std::uint32_t user_id) {
  while (!passwd.empty()) {
    std::string_view line = take_until(passwd, '\n');
    const std::string_view name = take_until(line, ':');
    take_until(line, ':');  // password
    const auto id = base::parse_u64(take_until(line, ':'));
    if (id == user_id && !name.empty()) return name;
  }
  return std::nullopt;
}

std::string read_user(const Root& root, std::uint32_t user_id) {
  if (const auto passwd = root.read("/etc/passwd", kPasswdBytes)) {
    if (const auto name = find_user(*passwd, user_id)) return base::clean_text(*name, kNameBytes);
  }
  return std::to_string(user_id);
}

}  // namespace everywatt::host
