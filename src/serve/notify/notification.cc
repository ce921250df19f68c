// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/notification.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace everywatt::notify {
namespace {

// Keeps of `common` what `other` has with the same value.
void keep_common(Labels& common, const Labels& other) {
  std::erase_if(common, [&](const auto& label) {
    const auto found = other.find(label.first);
    return found == other.end() || found->second != label.second;
  });
}

}  // namespace

std::string_view find_label(const Labels& labels, std::string_view name) {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string_view() : std::string_view(found->second);
}

std::string_view find_first_label(const Labels& labels, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const std::string_view value = find_label(labels, name); !value.empty()) return value;
  }
  return {};
}

std::string_view alert_name(const Alert& alert) {
  const std::string_view name = find_label(alert.labels, "alertname");
  return name.empty() ? "alert" : name;
}

Severity severity_of(const Alert& alert) {
  const std::string word = base::to_lower(find_label(alert.labels, "severity"));
  constexpr std::string_view kCritical[] = {"critical", "emergency", "fatal", "disaster",
                                            "page",     "p0",        "p1",    "error"};
  constexpr std::string_view kInfo[] = {"info", "informational", "notice", "none", "debug"};
  if (std::ranges::find(kCritical, word) != std::end(kCritical)) return Severity::kCritical;
  if (std::ranges::find(kInfo, word) != std::end(kInfo)) return Severity::kInfo;
  return Severity::kWarning;
}

std::size_t count_alerts(const Notification& notification, AlertState state) {
  return static_cast<std::size_t>(std::ranges::count(notification.alerts, state, &Alert::state));
}

bool is_critical(const Notification& notification) {
  return std::ranges::any_of(notification.alerts, [](const Alert& alert) {
    return alert.state == AlertState::kFiring && severity_of(alert) == Severity::kCritical;
  });
}

Notification merge(const std::vector<const Notification*>& notifications) {
  CHECK(!notifications.empty());
  Notification merged = *notifications.front();
  for (std::size_t i = 1; i < notifications.size(); ++i) {
    const Notification& next = *notifications[i];
    keep_common(merged.group_labels, next.group_labels);
    keep_common(merged.common_labels, next.common_labels);
    keep_common(merged.common_annotations, next.common_annotations);
    if (merged.external_url != next.external_url) merged.external_url.clear();
    if (merged.receiver != next.receiver) merged.receiver.clear();
    merged.truncated_alerts += next.truncated_alerts;
    merged.notifications += next.notifications;
    merged.alerts.insert(merged.alerts.end(), next.alerts.begin(), next.alerts.end());
  }
  // Alerts of several groups share a thread of their own, and no group's.
  if (notifications.size() > 1) merged.group_key = "everywatt/digest";
  return merged;
}

}  // namespace everywatt::notify
