// SPDX-License-Identifier: Apache-2.0
#include "serve/web/host_name.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace everywatt::web {
namespace {

bool is_port(std::string_view text) {
  return text.size() <= 5 &&
         std::ranges::all_of(text, [](unsigned char digit) { return std::isdigit(digit) != 0; });
}

bool is_address(int family, std::string_view text) {
  in6_addr parsed{};
  return ::inet_pton(family, std::string(text).c_str(), &parsed) == 1;
}

std::string_view without_dot(std::string_view name) {
  if (name.size() > 1 && name.ends_with('.')) name.remove_suffix(1);
  return name;
}

}  // namespace

bool is_allowed_host(std::string_view host, std::span<const std::string> names) {
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    const std::string_view rest = host.substr(end + 1);
    if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return false;
    return is_address(AF_INET6, host.substr(1, end - 1));
  }
  const std::size_t colon = host.find(':');
  if (colon != std::string_view::npos) {
    if (!is_port(host.substr(colon + 1))) return false;
    host = host.substr(0, colon);
  }
  if (is_address(AF_INET, host)) return true;
  const std::string name = base::to_lower(without_dot(host));
  if (name == "localhost") return true;
  return !name.empty() && std::ranges::any_of(names, [&name](const std::string& known) {
    return known == "*" || base::to_lower(without_dot(known)) == name;
  });
}

}  // namespace everywatt::web
