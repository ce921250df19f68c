// SPDX-License-Identifier: Apache-2.0
#include "serve/web/annotation.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace everywatt::web {
namespace {

using Json = nlohmann::json;

// The journal has that much room for one.
constexpr std::size_t kMostNameBytes = 32;

bool take_text(const Json& value, std::string& text) {
  if (!value.is_string()) return false;
  text = value.get_ref<const std::string&>();
  return true;
}

bool take_step(const Json& value, std::optional<std::int64_t>& step) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_integer()) return false;
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > kMost) return false;
  step = value.get<std::int64_t>();
  return true;
}

std::optional<double> finite(const Json& value) {
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

bool take_values(const Json& value, std::vector<std::pair<std::string, double>>& values) {
  if (!value.is_object() || value.size() > kMostAnnotationValues) return false;
  for (const auto& [name, each] : value.items()) {
    const auto number = finite(each);
    if (!number || name.empty() || name.size() > kMostNameBytes) return false;
    values.emplace_back(name, *number);
  }
  return true;
}

bool take_key(std::string_view key, const Json& value, Annotation& annotation) {
  if (key == "text") return take_text(value, annotation.text);
  if (key == "phase") return take_text(value, annotation.phase);
  if (key == "step") return take_step(value, annotation.step);
  if (key == "values") return take_values(value, annotation.values);
  if (key != "epoch") return false;
  annotation.epoch = finite(value);
  return annotation.epoch.has_value();
}

bool says_nothing(const Annotation& annotation) {
  return annotation.text.empty() && annotation.phase.empty() && !annotation.step &&
         !annotation.epoch && annotation.values.empty();
}

}  // namespace

std::optional<Annotation> parse_annotation(std::string_view message) {
  if (message.size() > kMostAnnotationBytes) return std::nullopt;
  // Deep nesting is harmless: the parser keeps its place on the heap, and the bytes are few.
  const Json json = Json::parse(message, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  Annotation annotation;
  for (const auto& [key, value] : json.items()) {
    if (!take_key(key, value, annotation)) return std::nullopt;
  }
  if (says_nothing(annotation)) return std::nullopt;
  return annotation;
}

}  // namespace everywatt::web
