// SPDX-License-Identifier: Apache-2.0
#include "serve/web/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"

namespace everywatt::web {
namespace {

constexpr std::size_t kShownBytes = 80;  // of what was sent, in an error

std::optional<unsigned> hex_digit(char digit) {
  if (digit >= '0' && digit <= '9') return static_cast<unsigned>(digit - '0');
  if (digit >= 'a' && digit <= 'f') return static_cast<unsigned>(digit - 'a' + 10);
  if (digit >= 'A' && digit <= 'F') return static_cast<unsigned>(digit - 'A' + 10);
  return std::nullopt;
}

std::optional<std::string> decode(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '+') {
      decoded += ' ';
    } else if (text[at] == '%') {
      if (at + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[at + 1]);
      const auto low = hex_digit(text[at + 2]);
      if (!high || !low) return std::nullopt;
      decoded += static_cast<char>(*high * 16 + *low);
      at += 2;
    } else {
      decoded += text[at];
    }
  }
  return decoded;
}

}  // namespace

const std::string* Target::find(std::string_view name) const {
  const auto found = std::ranges::find(parameters, name, &Parameter::name);
  return found == parameters.end() ? nullptr : &found->value;
}

base::Result<Target> parse_target(std::string_view text) {
  Target target;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (base::to_lower(text.substr(0, scheme.size())) != scheme) continue;
    text.remove_prefix(scheme.size());
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    target.host = text.substr(0, end);
    text.remove_prefix(end);
    if (text.empty()) text = "/";
    break;
  }
  if (!text.starts_with('/')) {
    return base::fail(base::Code::kInvalidArgument, "the request has no path");
  }
  const std::size_t question = text.find('?');
  target.path = text.substr(0, question);
  if (question == std::string_view::npos) return target;
  for (const std::string_view part : base::split(text.substr(question + 1), '&')) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    auto name = decode(part.substr(0, equals));
    auto value = decode(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!name || !value) {
      return base::fail(
          base::Code::kInvalidArgument,
          fmt::format("'{}' is not percent-encoded", base::clean_text(part, kShownBytes)));
    }
    target.parameters.push_back({.name = std::move(*name), .value = std::move(*value)});
  }
  return target;
}

base::Status check_parameters(const Target& target, std::span<const std::string_view> known) {
  for (const Parameter& parameter : target.parameters) {
    const std::string shown = base::clean_text(parameter.name, kShownBytes);
    if (std::ranges::find(known, parameter.name) == known.end()) {
      return base::fail(base::Code::kInvalidArgument, fmt::format("no parameter '{}': there are {}",
                                                                  shown, fmt::join(known, ", ")));
    }
    if (std::ranges::count(target.parameters, parameter.name, &Parameter::name) > 1) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("parameter '{}' is given twice", shown));
    }
  }
  return {};
}

}  // namespace everywatt::web
