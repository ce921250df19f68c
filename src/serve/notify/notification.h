// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace everywatt::notify {

// Names and values are clean text: UTF-8 without control characters, and short.
using Labels = std::map<std::string, std::string, std::less<>>;

enum class AlertState { kFiring, kResolved };

struct Alert {
  AlertState state = AlertState::kFiring;
  Labels labels;
  Labels annotations;
  std::int64_t starts_at_ns = 0;           // since 1970
  std::optional<std::int64_t> ends_at_ns;  // where it is told
  std::string generator_url;               // may be empty
  std::string fingerprint;                 // may be empty

  bool operator==(const Alert&) const = default;
};

// What Alertmanager tells of one group of alerts at one time.
struct Notification {
  std::string group_key;
  std::string receiver;
  Labels group_labels;
  Labels common_labels;
  Labels common_annotations;
  std::string external_url;
  std::uint64_t truncated_alerts = 0;  // what Alertmanager left out itself
  std::vector<Alert> alerts;           // at least one
  // More than one: a digest of so many, whose alerts are listed shortly.
  std::uint64_t notifications = 1;

  bool operator==(const Notification&) const = default;
};

// The value of a label, or nothing.
std::string_view find_label(const Labels& labels, std::string_view name);

// The value of the first of these labels that is there.
std::string_view find_first_label(const Labels& labels, std::initializer_list<const char*> names);

// "alertname", or what stands for it where an alert has none.
std::string_view alert_name(const Alert& alert);

// How much an alert asks for, from the label `severity`: critical, emergency, page, ... Words that
// are not known are warnings.
enum class Severity { kCritical, kWarning, kInfo };
Severity severity_of(const Alert& alert);

std::size_t count_alerts(const Notification& notification, AlertState state);

// True with one alert that fires and is critical: it goes before the others.
bool is_critical(const Notification& notification);

// One notification of many, in their order; what they have in common is what all have. REQUIRES: at
// least one.
Notification merge(const std::vector<const Notification*>& notifications);

}  // namespace everywatt::notify
