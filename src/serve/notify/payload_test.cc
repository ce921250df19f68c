// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/payload.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

using nlohmann::json;

json good() {
  return json::parse(R"({
    "version": "4", "groupKey": "{}:{alertname=\"A\"}", "truncatedAlerts": 2, "status": "firing",
    "receiver": "ops", "groupLabels": {"alertname": "A"}, "commonLabels": {"alertname": "A"},
    "commonAnnotations": {"summary": "s"}, "externalURL": "http://am:9093",
    "alerts": [{"status": "firing", "labels": {"alertname": "A", "gpu": "0"},
      "annotations": {"summary": "s"}, "startsAt": "2026-12-02T14:05:07.25+08:00",
      "endsAt": "0001-01-01T00:00:00Z", "generatorURL": "http://p/graph", "fingerprint": "ab"}]})");
}

std::string fault(const json& payload) {
  const auto parsed = parse_payload(payload.dump());
  EXPECT_FALSE(parsed);
  if (parsed) return "";
  EXPECT_EQ(parsed.error().code, base::Code::kInvalidArgument);
  return parsed.error().message;
}

TEST(Payload, TakesWhatAlertmanagerSends) {
  const auto parsed = parse_payload(good().dump());
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->group_key, "{}:{alertname=\"A\"}");
  EXPECT_EQ(parsed->truncated_alerts, 2u);
  EXPECT_EQ(parsed->external_url, "http://am:9093");
  ASSERT_EQ(parsed->alerts.size(), 1u);
  const Alert& alert = parsed->alerts.front();
  EXPECT_EQ(alert.state, AlertState::kFiring);
  EXPECT_EQ(alert.starts_at_ns, kStart_ns + 250'000'000);
  EXPECT_EQ(alert.ends_at_ns, std::nullopt);
  EXPECT_EQ(find_label(alert.labels, "gpu"), "0");
  EXPECT_EQ(find_label(alert.annotations, "summary"), "s");
}

TEST(Payload, TakesKeysThatItDoesNotKnow) {
  json payload = good();
  payload["notificationReason"] = {{"x", 1}};
  EXPECT_TRUE(parse_payload(payload.dump()));
}

TEST(Payload, NamesTheKeyThatIsWrong) {
  const std::pair<json::json_pointer, json> kWrong[] = {
      {json::json_pointer("/version"), "3"},
      {json::json_pointer("/status"), "ok"},
      {json::json_pointer("/groupKey"), 1},
      {json::json_pointer("/receiver"), json::array()},
      {json::json_pointer("/truncatedAlerts"), -1},
      {json::json_pointer("/groupLabels"), "x"},
      {json::json_pointer("/commonLabels"), {{"a", 1}}},
      {json::json_pointer("/externalURL"), false},
      {json::json_pointer("/alerts"), json::array()},
      {json::json_pointer("/alerts"), "none"},
      {json::json_pointer("/alerts/0"), 7},
      {json::json_pointer("/alerts/0/status"), nullptr},
      {json::json_pointer("/alerts/0/labels"), nullptr},
      {json::json_pointer("/alerts/0/annotations"), json::array()},
      {json::json_pointer("/alerts/0/startsAt"), "yesterday"},
      {json::json_pointer("/alerts/0/startsAt"), "2026-02-30T00:00:00Z"},
      {json::json_pointer("/alerts/0/startsAt"), nullptr},
      {json::json_pointer("/alerts/0/endsAt"), 5},
      {json::json_pointer("/alerts/0/generatorURL"), 5},
      {json::json_pointer("/alerts/0/fingerprint"), 5},
  };
  for (const auto& [place, value] : kWrong) {
    json payload = good();
    payload[place] = value;
    const std::string message = fault(payload);
    const std::string key = place.back() == "0" ? "alerts[0]" : place.back();
    EXPECT_NE(message.find(key), std::string::npos) << place.to_string() << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(Payload, SaysWhatIsNoJson) {
  EXPECT_EQ(parse_payload("{").error().message,
            "not a webhook payload of Alertmanager: it is not JSON");
  EXPECT_EQ(parse_payload("[]").error().message,
            "not a webhook payload of Alertmanager: it is not an object");
}

TEST(Payload, AnAlertOfManyLabelsKeepsThoseThatMatterMost) {
  json payload = good();
  for (int i = 0; i < 200; ++i)
    payload["alerts"][0]["labels"]["a" + std::to_string(i)] = "x";
  payload["alerts"][0]["labels"]["severity"] = "critical";
  payload["alerts"][0]["labels"]["zone"] = "x";
  const auto parsed = parse_payload(payload.dump());
  ASSERT_TRUE(parsed) << parsed.error().message;
  const Labels& labels = parsed->alerts[0].labels;
  EXPECT_EQ(labels.size(), 64u);
  EXPECT_EQ(find_label(labels, "alertname"), "A");
  EXPECT_EQ(find_label(labels, "gpu"), "0");
  EXPECT_EQ(find_label(labels, "severity"), "critical");
  EXPECT_FALSE(labels.contains("zone"));
}

TEST(Payload, CleansTextsAndMarksWhatItCuts) {
  json payload = good();
  payload["alerts"][0]["labels"]["gpu"] = "a\nb\x1b[31m";
  payload["alerts"][0]["annotations"]["description"] = std::string(5000, 'x');
  const auto parsed = parse_payload(payload.dump());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(find_label(parsed->alerts[0].labels, "gpu"), "a b [31m");
  const std::string_view text = find_label(parsed->alerts[0].annotations, "description");
  EXPECT_EQ(text.size(), 2048u);
  EXPECT_TRUE(text.ends_with("…"));
}

TEST(Payload, ReadsWhatItWrites) {
  Notification notification = memory_notification();
  EXPECT_EQ(*parse_payload(format_payload(notification)), notification);
  notification.notifications = 7;
  notification.truncated_alerts = 3;
  EXPECT_EQ(*parse_payload(format_payload(notification)), notification);
}

TEST(Payload, MergesToWhatAllHaveInCommon) {
  Notification first = memory_notification();
  Notification second = memory_notification();
  second.common_labels["job"] = "other";
  second.alerts.resize(1);
  const Notification merged = merge({&first, &second});
  EXPECT_EQ(merged.notifications, 2u);
  EXPECT_EQ(merged.alerts.size(), 3u);
  EXPECT_EQ(merged.common_labels, (Labels{{"instance", "node-1:9400"}}));
  EXPECT_EQ(merged.receiver, "ops");
}

}  // namespace
}  // namespace everywatt::notify
