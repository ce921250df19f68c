// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "serve/notify/time_text.h"

namespace everywatt::notify {
namespace {

using nlohmann::json;

constexpr std::size_t kLabelsLimit = 64;
constexpr std::size_t kNameLimitBytes = 128;
constexpr std::size_t kValueLimitBytes = 512;
// A description may hold what a runbook says; nobody reads more of it in a chat.
constexpr std::size_t kAnnotationLimitBytes = 2048;
constexpr std::size_t kUrlLimitBytes = 2048;
constexpr std::size_t kKeyLimitBytes = 4096;

std::string clean(const std::string& text, std::size_t limit_bytes) {
  constexpr std::string_view kCut = "…";
  // Cleaning may lengthen it: what is no UTF-8 becomes three bytes each.
  std::string whole(base::trim(base::clean_text(text, 3 * text.size() + 4)));
  if (whole.size() <= limit_bytes) return whole;
  return base::clean_text(whole, limit_bytes - kCut.size()).append(kCut);
}

// What a message is made of first of all.
constexpr auto kFirst = std::to_array<std::string_view>(
    {"alertname", "severity", "gpu", "uuid", "UUID", "Hostname", "hostname", "exported_instance",
     "instance", "node", "host", "summary", "summary_zh", "description", "description_zh",
     "message", "value", "runbook_url", "dashboard_url"});

// Refused, none of the alerts that came with it would be told of.
void leave_out_beyond(std::size_t limit, Labels& labels) {
  for (auto each = labels.end(); labels.size() > limit && each != labels.begin();) {
    --each;
    if (std::ranges::find(kFirst, each->first) == kFirst.end()) each = labels.erase(each);
  }
}

// Takes keys off one object, and remembers the first fault.
class Taker {
 public:
  Taker(const json& object, std::string place, std::string& fault)
      : object_(object), place_(std::move(place)), fault_(fault) {}

  const json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  void blame(std::string_view key, std::string_view what) {
    if (fault_.empty()) fault_ = fmt::format("{}{} {}", place_, key, what);
  }

  std::string text(const char* key, std::size_t limit_bytes) {
    const json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) {
      blame(key, "is not a string");
      return {};
    }
    return clean(value->get_ref<const std::string&>(), limit_bytes);
  }

  // Addresses are not cut, as half of one leads elsewhere.
  std::string url(const char* key) {
    std::string address = text(key, kUrlLimitBytes + 3);
    return address.size() > kUrlLimitBytes ? std::string() : address;
  }

  Labels labels(const char* key, std::size_t limit_bytes) {
    Labels labels;
    const json* value = find(key);
    if (value == nullptr) return labels;
    if (!value->is_object()) {
      blame(key, "is not an object");
      return labels;
    }
    for (const auto& [name, text] : value->items()) {
      if (!text.is_string()) blame(key, "holds what is not a string");
      if (!fault_.empty()) return labels;
      std::string cleaned = clean(text.get_ref<const std::string&>(), limit_bytes);
      if (!cleaned.empty()) labels.emplace(clean(name, kNameLimitBytes), std::move(cleaned));
    }
    leave_out_beyond(kLabelsLimit, labels);
    return labels;
  }

  AlertState state(const char* key) {
    const json* value = find(key);
    if (value != nullptr && *value == "resolved") return AlertState::kResolved;
    if (value == nullptr || *value != "firing")
      blame(key, "is neither \"firing\" nor \"resolved\"");
    return AlertState::kFiring;
  }

  std::optional<std::int64_t> time(const char* key) {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    const auto time =
        value->is_string() ? parse_rfc3339(value->get_ref<const std::string&>()) : std::nullopt;
    if (!time) {
      blame(key, "is not a time as RFC 3339 has it");
      return std::nullopt;
    }
    return *time;
  }

  std::uint64_t count(const char* key, std::uint64_t missing) {
    const json* value = find(key);
    if (value == nullptr) return missing;
    if (!value->is_number_unsigned()) {
      blame(key, "is not a count");
      return missing;
    }
    return value->get<std::uint64_t>();
  }

 private:
  const json& object_;
  std::string place_;
  std::string& fault_;
};

Alert take_alert(const json& object, std::size_t index, std::string& fault) {
  Taker taker(object, fmt::format("alerts[{}].", index), fault);
  Alert alert;
  alert.state = taker.state("status");
  if (taker.find("labels") == nullptr) taker.blame("labels", "is missing");
  alert.labels = taker.labels("labels", kValueLimitBytes);
  alert.annotations = taker.labels("annotations", kAnnotationLimitBytes);
  const auto starts_at_ns = taker.time("startsAt");
  if (!starts_at_ns) taker.blame("startsAt", "is missing");
  alert.starts_at_ns = starts_at_ns.value_or(0);
  alert.ends_at_ns = taker.time("endsAt");
  // Of an alert that fires it is when Alertmanager gives up waiting for news.
  if (alert.state == AlertState::kFiring) alert.ends_at_ns.reset();
  alert.generator_url = taker.url("generatorURL");
  alert.fingerprint = taker.text("fingerprint", kNameLimitBytes);
  return alert;
}

void take_alerts(Taker& taker, Notification& notification, std::string& fault) {
  const json* alerts = taker.find("alerts");
  if (alerts == nullptr || !alerts->is_array()) return taker.blame("alerts", "is not an array");
  if (alerts->empty()) return taker.blame("alerts", "is empty");
  if (alerts->size() > kAlertsLimit) {
    return taker.blame("alerts", fmt::format("holds more than {}", kAlertsLimit));
  }
  notification.alerts.reserve(alerts->size());
  for (const json& each : *alerts) {
    const std::size_t index = notification.alerts.size();
    if (!each.is_object()) return taker.blame(fmt::format("alerts[{}]", index), "is not an object");
    notification.alerts.push_back(take_alert(each, index, fault));
    if (!fault.empty()) return;
  }
}

json labels_json(const Labels& labels) {
  json object = json::object();
  for (const auto& [name, value] : labels)
    object[name] = value;
  return object;
}

json alert_json(const Alert& alert) {
  return {{"status", alert.state == AlertState::kFiring ? "firing" : "resolved"},
          {"labels", labels_json(alert.labels)},
          {"annotations", labels_json(alert.annotations)},
          {"startsAt", format_rfc3339(alert.starts_at_ns)},
          {"endsAt", alert.ends_at_ns ? format_rfc3339(*alert.ends_at_ns) : "0001-01-01T00:00:00Z"},
          {"generatorURL", alert.generator_url},
          {"fingerprint", alert.fingerprint}};
}

}  // namespace

base::Result<Notification> parse_payload(std::string_view text) {
  const json payload = json::parse(text, nullptr, false);
  std::string fault;
  Notification notification;
  if (payload.is_discarded()) {
    fault = "it is not JSON";
  } else if (!payload.is_object()) {
    fault = "it is not an object";
  } else {
    Taker taker(payload, "", fault);
    const json* version = taker.find("version");
    if (version == nullptr || *version != "4") taker.blame("version", "is not \"4\"");
    taker.state("status");
    notification.group_key = taker.text("groupKey", kKeyLimitBytes);
    notification.receiver = taker.text("receiver", kNameLimitBytes);
    notification.group_labels = taker.labels("groupLabels", kValueLimitBytes);
    notification.common_labels = taker.labels("commonLabels", kValueLimitBytes);
    notification.common_annotations = taker.labels("commonAnnotations", kAnnotationLimitBytes);
    notification.external_url = taker.url("externalURL");
    notification.truncated_alerts = taker.count("truncatedAlerts", 0);
    notification.notifications = std::max<std::uint64_t>(1, taker.count("notifications", 1));
    take_alerts(taker, notification, fault);
  }
  if (!fault.empty()) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("not a webhook payload of Alertmanager: {}", fault));
  }
  return notification;
}

std::string format_payload(const Notification& notification) {
  const bool is_firing = count_alerts(notification, AlertState::kFiring) > 0;
  json payload = {{"version", "4"},
                  {"groupKey", notification.group_key},
                  {"truncatedAlerts", notification.truncated_alerts},
                  {"status", is_firing ? "firing" : "resolved"},
                  {"receiver", notification.receiver},
                  {"groupLabels", labels_json(notification.group_labels)},
                  {"commonLabels", labels_json(notification.common_labels)},
                  {"commonAnnotations", labels_json(notification.common_annotations)},
                  {"externalURL", notification.external_url}};
  json& alerts = payload["alerts"] = json::array();
  for (const Alert& alert : notification.alerts)
    alerts.push_back(alert_json(alert));
  if (notification.notifications > 1) payload["notifications"] = notification.notifications;
  return payload.dump();
}

}  // namespace everywatt::notify
