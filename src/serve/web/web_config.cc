// SPDX-License-Identifier: Apache-2.0
#include "serve/web/web_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "serve/web/password_hash.h"
#include "serve/web/tls_config.h"
#include "serve/web/yaml_reading.h"

namespace everywatt::web {
namespace {

// The header fields that may be set, and their values where those are few.
struct SettableField {
  std::string_view name;
  std::array<std::string_view, 2> values = {};
};
constexpr auto kFields = std::to_array<SettableField>({
    {"Content-Security-Policy"},
    {"Strict-Transport-Security"},
    {"X-Content-Type-Options", {"nosniff"}},
    {"X-Frame-Options", {"deny", "sameorigin"}},
    {"X-XSS-Protection"},
});

struct Unit {
  std::string_view name;
  double ns;
};
constexpr auto kUnits = std::to_array<Unit>({{"ns", 1},
                                             {"us", 1e3},
                                             {"\u00b5s", 1e3},
                                             {"\u03bcs", 1e3},
                                             {"ms", 1e6},
                                             {"s", 1e9},
                                             {"m", 60e9},
                                             {"h", 3600e9}});

void read_http(YamlReading& yaml, const YamlNode& map, WebConfig& config) {
  yaml.judge_keys(map, "http_server_config", {"http2", "headers"});
  config.wants_http2 = yaml.boolean(map, "http2");
  const auto headers = yaml.map(map, "headers");
  if (!headers) return;
  for (const YamlEntry& entry : headers->entries) {
    const std::string& name = entry.key;
    const auto field = std::ranges::find(kFields, std::string_view(name), &SettableField::name);
    if (field == kFields.end()) {
      yaml.complain(entry.line, fmt::format("HTTP header {} can not be configured", shown(name)),
                    list_names(kFields, [](const auto& f) { return f.name; }));
      continue;
    }
    const auto value = yaml.text(*headers, name);
    if (!value || value->value.empty()) continue;  // not sent
    const auto is_printable = [](char c) { return c == '\t' || (c >= ' ' && c != 0x7f); };
    if (!std::ranges::all_of(value->value, is_printable)) {
      yaml.complain(value->line, fmt::format("{}: a control character", name));
    }
    const bool is_listed = field->values[0].empty() ||
                           std::ranges::find(field->values, value->value) != field->values.end();
    if (!is_listed) {
      yaml.complain(value->line, fmt::format("invalid value for {}: {}", name, shown(value->value)),
                    list_names(field->values));
    }
    config.headers.push_back({.name = name, .value = value->value});
  }
}

// "1m30s", "100ms"; a number without a unit is of nanoseconds.
std::optional<std::int64_t> parse_go_duration_ns(std::string_view text) {
  if (const auto ns = base::parse_u64(text)) {
    if (*ns > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return static_cast<std::int64_t>(*ns);
  }
  constexpr double kMostNs = 9.0e18;
  double sum_ns = 0;
  while (!text.empty()) {
    const std::size_t number = std::min(text.find_first_not_of("0123456789."), text.size());
    const std::size_t end = std::min(text.find_first_of("0123456789.", number), text.size());
    const auto unit = std::ranges::find(kUnits, text.substr(number, end - number), &Unit::name);
    const auto count = base::parse_f64(text.substr(0, number));
    if (!count || unit == kUnits.end()) return std::nullopt;
    sum_ns += *count * unit->ns;
    text.remove_prefix(end);
  }
  if (sum_ns > kMostNs) return std::nullopt;
  return static_cast<std::int64_t>(sum_ns);
}

void read_rate_limit(YamlReading& yaml, const YamlNode& map, WebConfig& config) {
  yaml.judge_keys(map, "rate_limit", {"burst", "interval"});
  RateLimit limit;
  if (const auto interval = yaml.text(map, "interval")) {
    const auto ns = parse_go_duration_ns(interval->value);
    if (!ns) {
      yaml.complain(interval->line, fmt::format("interval: {} is not a duration such as 100ms",
                                                shown(interval->value)));
    }
    limit.interval_ns = ns.value_or(0);
  }
  if (const auto burst = yaml.text(map, "burst")) {
    const auto count = base::parse_u64(burst->value);
    if (!count) {
      yaml.complain(burst->line,
                    fmt::format("burst: {} is not a whole number", shown(burst->value)));
    }
    limit.burst = count.value_or(0);
  }
  if (limit.interval_ns > 0) config.rate_limit = limit;
}

void read_users(YamlReading& yaml, const YamlNode& map, WebConfig& config) {
  for (const YamlEntry& entry : map.entries) {
    const std::string& name = entry.key;
    // What is no text is a fault, too: nobody's password is left out.
    const std::string hash = yaml.text(map, name).value_or(YamlText{}).value;
    // The hash itself is not shown.
    if (auto judged = judge_password_hash(hash); !judged) {
      yaml.complain(entry.line,
                    fmt::format("the password of {}: {}", shown(name), judged.error().message),
                    judged.error().hint);
    }
    config.users.emplace(name, hash);
  }
}

}  // namespace

base::Result<WebConfig> parse_web_config(std::string_view text, const std::string& name) {
  const auto root = parse_yaml(text, name);
  if (!root) return std::unexpected(root.error());
  YamlReading yaml(name);
  WebConfig config;
  if (root->kind == YamlNode::Kind::kText || root->kind == YamlNode::Kind::kList) {
    yaml.complain(root->line, "not a map of keys");
  }
  yaml.judge_keys(*root, "",
                  {"tls_server_config", "http_server_config", "rate_limit", "basic_auth_users"});
  if (const auto* map = yaml.map(*root, "tls_server_config")) config.tls = read_tls(yaml, *map);
  if (const auto* map = yaml.map(*root, "http_server_config")) read_http(yaml, *map, config);
  if (const auto* map = yaml.map(*root, "rate_limit")) read_rate_limit(yaml, *map, config);
  if (const auto* map = yaml.map(*root, "basic_auth_users")) read_users(yaml, *map, config);
  if (yaml.fault()) return std::unexpected(*yaml.fault());
  return config;
}

}  // namespace everywatt::web
