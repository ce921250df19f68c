// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "serve/notify/time_text.h"

namespace everywatt::notify {
namespace {

constexpr std::size_t kTitleNamesBytes = 90;
constexpr std::size_t kTitleHostBytes = 60;
constexpr std::size_t kBriefBytes = 240;
constexpr std::size_t kFootLinkBytes = 120;

// What names the GPU and the host in the labels of the exporters that there are.
constexpr std::initializer_list<const char*> kGpuLabels{"gpu", "GPU", "minor_number", "UUID",
                                                        "uuid"};
constexpr std::initializer_list<const char*> kHostLabels{
    "Hostname", "hostname", "exported_instance", "instance", "node", "host"};
constexpr std::initializer_list<const char*> kShownLabels{"alertname", "severity"};
constexpr std::initializer_list<const char*> kDescriptions{"description", "message"};
// A rule may bring a text in Chinese, too, under the same name with this at its end.
constexpr std::string_view kChinese = "_zh";

std::string cut(std::string_view text, std::size_t limit_bytes) {
  if (text.size() <= limit_bytes) return std::string(text);
  return base::clean_text(text, limit_bytes) + "…";
}

bool is_one_of(std::string_view name, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* each) { return name == each; });
}

int rank(const Alert& alert) {
  if (alert.state == AlertState::kResolved) return 3;
  return static_cast<int>(severity_of(alert));
}

Tone tone_of(const Alert& alert) {
  if (alert.state == AlertState::kResolved) return Tone::kResolved;
  switch (severity_of(alert)) {
    case Severity::kCritical:
      return Tone::kCritical;
    case Severity::kWarning:
      return Tone::kWarning;
    case Severity::kInfo:
      return Tone::kInfo;
  }
  return Tone::kInfo;
}

std::string name_with_severity(const Alert& alert) {
  const std::string_view severity = find_label(alert.labels, "severity");
  if (severity.empty()) return std::string(alert_name(alert));
  return fmt::format("{} ({})", alert_name(alert), severity);
}

class EntryWriter {
 public:
  EntryWriter(const Alert& alert, Language language)
      : alert_(alert), words_(words_of(language)), language_(language) {}

  Entry write(std::size_t number, std::size_t count) {
    Entry entry{.name = std::string(alert_name(alert_)), .brief = brief()};
    lines_ = &entry.lines;
    const std::string place = count > 1 ? fmt::format("{}/{} ", number, count) : std::string();
    lines_->push_back({.kind = LineKind::kHeading,
                       .label = std::string(state_word()),
                       .text = place + name_with_severity(alert_),
                       .tone = tone_of(alert_)});
    pair(words_.gpu, gpu_of(alert_));
    pair(words_.host, host_of(alert_));
    pair(words_.summary, said("summary"));
    pair(words_.description, description());
    pair(words_.value, find_label(alert_.annotations, "value"));
    other_annotations();
    times();
    pair(words_.labels, other_labels());
    link(words_.source, alert_.generator_url);
    link(words_.runbook, find_label(alert_.annotations, "runbook_url"));
    link(words_.dashboard, find_label(alert_.annotations, "dashboard_url"));
    return entry;
  }

  Line brief() const {
    std::string text = name_with_severity(alert_);
    const auto add = [&](std::string_view before, std::string_view what) {
      if (!what.empty()) text += fmt::format("{}{}", before, what);
    };
    add(" · GPU ", gpu_of(alert_));
    add(" · ", host_of(alert_));
    const bool is_over = alert_.state == AlertState::kResolved && alert_.ends_at_ns;
    const std::string when = is_over ? fmt::format("{} {}", words_.lasted, duration())
                                     : format_local_time(alert_.starts_at_ns);
    add(" · ", when);
    const std::string_view summary = said("summary");
    add(" · ", summary.empty() ? description() : summary);
    return {.kind = LineKind::kHeading,
            .label = std::string(state_word()),
            .text = cut(text, kBriefBytes),
            .tone = tone_of(alert_)};
  }

 private:
  std::string_view state_word() const {
    return alert_.state == AlertState::kFiring ? words_.firing : words_.resolved;
  }

  // An annotation in the language of the message, as far as the alert has it.
  std::string_view said(std::string_view name) const {
    if (language_ == Language::kChinese) {
      const auto chinese = find_label(alert_.annotations, fmt::format("{}{}", name, kChinese));
      if (!chinese.empty()) return chinese;
    }
    return find_label(alert_.annotations, name);
  }

  std::string_view description() const {
    for (const char* name : kDescriptions) {
      if (const std::string_view text = said(name); !text.empty()) return text;
    }
    return {};
  }

  bool is_translation(std::string_view name) const {
    if (!name.ends_with(kChinese)) return false;
    name.remove_suffix(kChinese.size());
    return !find_label(alert_.annotations, name).empty();
  }

  void pair(std::string_view label, std::string_view text) {
    if (text.empty()) return;
    lines_->push_back(
        {.kind = LineKind::kPair, .label = std::string(label), .text = std::string(text)});
  }

  // Other than http is nothing that a click should do.
  void link(std::string_view label, std::string_view url) {
    if (!url.starts_with("http://") && !url.starts_with("https://")) return;
    lines_->push_back(
        {.kind = LineKind::kLink, .label = std::string(label), .url = std::string(url)});
  }

  void times() {
    if (alert_.state == AlertState::kFiring || !alert_.ends_at_ns) {
      return pair(words_.since, format_local_time(alert_.starts_at_ns));
    }
    pair(words_.from, format_local_time(alert_.starts_at_ns));
    pair(words_.until, format_local_time(*alert_.ends_at_ns));
    pair(words_.lasted, duration());
  }

  std::string duration() const {
    return format_duration(std::max<std::int64_t>(0, *alert_.ends_at_ns - alert_.starts_at_ns),
                           language_);
  }

  void other_annotations() {
    for (const auto& [name, _] : alert_.annotations) {
      const bool is_known = name == "summary" || name == "value" || name == "runbook_url" ||
                            name == "dashboard_url" || is_one_of(name, kDescriptions);
      if (!is_known && !is_translation(name)) pair(name, said(name));
    }
  }

  std::string other_labels() const {
    const std::string_view gpu = gpu_of(alert_);
    const std::string_view host = host_of(alert_);
    std::string text;
    for (const auto& [name, value] : alert_.labels) {
      const bool is_shown = is_one_of(name, kShownLabels) ||
                            (is_one_of(name, kGpuLabels) && value == gpu) ||
                            (is_one_of(name, kHostLabels) && value == host);
      if (!is_shown) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
    }
    return text;
  }

  const Alert& alert_;
  const Words& words_;
  Language language_;
  std::vector<Line>* lines_ = nullptr;
};

// What all alerts have in this label, or nothing.
std::string common_host(const Notification& notification) {
  const std::string_view first = host_of(notification.alerts.front());
  const bool is_common = std::ranges::all_of(
      notification.alerts, [&](const Alert& alert) { return host_of(alert) == first; });
  return is_common ? cut(first, kTitleHostBytes) : std::string();
}

std::string title_names(const Notification& notification, const Words& words) {
  std::vector<std::string_view> names;
  for (const Alert& alert : notification.alerts) {
    const std::string_view name = alert_name(alert);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string text = cut(names.front(), kTitleNamesBytes);
  std::size_t shown = 1;
  for (; shown < names.size() && text.size() + names[shown].size() <= kTitleNamesBytes; ++shown) {
    text += fmt::format("{}{}", words.comma, names[shown]);
  }
  if (shown < names.size()) {
    text += words.comma;
    text += fmt::format(fmt::runtime(words.other_names), names.size() - shown);
  }
  return text;
}

std::string title_of(const Notification& notification, const Words& words) {
  const std::size_t firing = count_alerts(notification, AlertState::kFiring);
  const std::size_t resolved = notification.alerts.size() - firing;
  std::string counts;
  if (firing > 0) counts = fmt::format("{} {}", words.firing, firing);
  if (resolved > 0) {
    counts += fmt::format("{}{} {}", firing > 0 ? words.comma : "", words.resolved, resolved);
  }
  if (notification.notifications > 1) {
    return fmt::format("{} · {}", counts,
                       fmt::format(fmt::runtime(words.digest), notification.notifications));
  }
  const std::string host = common_host(notification);
  return fmt::format("{} · {}{}{}", counts, title_names(notification, words),
                     host.empty() ? "" : " · ", host);
}

}  // namespace

std::string_view gpu_of(const Alert& alert) {
  return find_first_label(alert.labels, kGpuLabels);
}

std::string_view host_of(const Alert& alert) {
  return find_first_label(alert.labels, kHostLabels);
}

Line compose_brief(const Alert& alert, Language language) {
  return EntryWriter(alert, language).brief();
}

std::string count_names(const std::vector<std::string_view>& names, const Words& words,
                        std::size_t limit_bytes) {
  std::map<std::string_view, std::size_t> counts;
  for (const std::string_view name : names)
    ++counts[name];
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, count] : counts) {
    std::string next = shown == 0 ? std::string() : std::string(words.comma);
    next += count == 1 ? std::string(name) : fmt::format("{} ×{}", name, count);
    if (text.size() + next.size() > limit_bytes) break;
    text += next;
    ++shown;
  }
  if (shown == counts.size()) return text;
  if (shown > 0) text += words.comma;
  return text + fmt::format(fmt::runtime(words.and_names), counts.size() - shown);
}

Message compose(const Notification& notification, Language language) {
  const Words& words = words_of(language);
  std::vector<const Alert*> alerts;
  for (const Alert& alert : notification.alerts)
    alerts.push_back(&alert);
  std::ranges::stable_sort(alerts, {}, [](const Alert* alert) { return rank(*alert); });
  Message message{.words = &words,
                  .title = title_of(notification, words),
                  .tone = tone_of(*alerts.front()),
                  .is_digest = notification.notifications > 1};
  for (const Alert* alert : alerts) {
    EntryWriter writer(*alert, language);
    message.entries.push_back(writer.write(message.entries.size() + 1, alerts.size()));
  }
  const auto note = [&](std::string text) { message.head.push_back({.text = std::move(text)}); };
  if (message.is_digest) note(std::string(words.digest_note));
  if (notification.truncated_alerts > 0) {
    note(fmt::format(fmt::runtime(words.truncated), notification.truncated_alerts));
  }
  const std::string& link = notification.external_url;
  // It stands in each part: one as long as an address may be would leave no room for alerts.
  const bool has_link = link.size() <= kFootLinkBytes &&
                        (link.starts_with("http://") || link.starts_with("https://"));
  message.foot = {.kind = has_link ? LineKind::kLink : LineKind::kNote,
                  .label = has_link ? "Everywatt · Alertmanager" : "",
                  .text = has_link ? "" : "Everywatt",
                  .url = has_link ? link : ""};
  return message;
}

}  // namespace everywatt::notify
