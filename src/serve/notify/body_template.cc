// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/body_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "serve/notify/markup.h"
#include "serve/notify/signing.h"
#include "serve/notify/time_text.h"

namespace everywatt::notify {
namespace {

constexpr std::size_t kTemplateLimitBytes = 64u << 10;

constexpr std::array kNames{"title",    "text",     "brief", "status",       "firing",
                            "resolved", "receiver", "to",    "external_url", "group_key"};
constexpr std::array kAlertNames{
    "name",  "status",    "severity", "number",        "gpu",         "host",        "summary",
    "brief", "starts_at", "ends_at",  "generator_url", "description", "fingerprint", "comma"};

bool is_label(std::string_view name) {
  return name.starts_with("label.") || name.starts_with("annotation.");
}

std::string_view find_labelled(std::string_view name, const Labels& labels,
                               const Labels& annotations) {
  const std::size_t point = name.find('.');
  const bool is_annotation = name.starts_with("annotation.");
  return find_label(is_annotation ? annotations : labels, name.substr(point + 1));
}

std::string_view status_word(AlertState state) {
  return state == AlertState::kFiring ? "firing" : "resolved";
}

std::string plain_text(const Message& message) {
  std::string text = message.title;
  const auto add = [&](const Line& line) {
    text.append("\n").append(write_line(Style::kPlain, line));
  };
  for (const Line& line : message.head)
    add(line);
  for (const Entry& entry : message.entries) {
    text += "\n";
    if (message.is_digest) {
      add(entry.brief);
      continue;
    }
    for (const Line& line : entry.lines)
      add(line);
  }
  return text;
}

// What a text message of few characters has room for.
std::string brief_text(const Message& message) {
  std::string text;
  for (const Entry& entry : message.entries) {
    if (!text.empty()) text += "\n";
    text += write_line(Style::kPlain, entry.brief);
  }
  return text;
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

std::string escape_value(Escaping escaping, const std::string& value) {
  switch (escaping) {
    case Escaping::kJson: {
      const std::string quoted =
          nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
      return quoted.substr(1, quoted.size() - 2);
    }
    case Escaping::kForm:
      return percent_encode(value);
    case Escaping::kXml:
      return escape(Style::kHtml, value);
    case Escaping::kNone:
      return value;
  }
  return value;
}

// At most so many characters, the last a mark where something is missing.
std::string limit_characters(const std::string& text, std::size_t limit) {
  if (limit == 0) return text;
  std::size_t characters = 0;
  std::size_t cut_at = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0x80) continue;
    if (characters == limit - 1) cut_at = i;
    if (characters == limit) return text.substr(0, cut_at) + "…";
    ++characters;
  }
  return text;
}

class Values {
 public:
  Values(const Notification& notification, const ChannelOptions& options)
      : notification_(notification),
        options_(options),
        message_(compose(notification, options.language)) {}

  std::string find(std::string_view name) const {
    const std::size_t firing = count_alerts(notification_, AlertState::kFiring);
    if (name == "title") return message_.title;
    if (name == "text") return plain_text(message_);
    if (name == "brief") return brief_text(message_);
    if (name == "status") return firing > 0 ? "firing" : "resolved";
    if (name == "firing") return fmt::format("{}", firing);
    if (name == "resolved") return fmt::format("{}", notification_.alerts.size() - firing);
    if (name == "receiver") return notification_.receiver;
    if (name == "to") return join(options_.to);
    if (name == "external_url") return notification_.external_url;
    if (name == "group_key") return notification_.group_key;
    return std::string(
        find_labelled(name, notification_.common_labels, notification_.common_annotations));
  }

  std::string find_of_alert(std::string_view name, std::size_t index) const {
    const Alert& alert = notification_.alerts[index];
    if (name == "name") return std::string(alert_name(alert));
    if (name == "status") return std::string(status_word(alert.state));
    if (name == "severity") return std::string(find_label(alert.labels, "severity"));
    if (name == "number") return fmt::format("{}", index + 1);
    if (name == "gpu") return std::string(gpu_of(alert));
    if (name == "host") return std::string(host_of(alert));
    if (name == "summary") return std::string(find_label(alert.annotations, "summary"));
    if (name == "description") return std::string(find_label(alert.annotations, "description"));
    if (name == "brief") return write_line(Style::kPlain, compose_brief(alert, options_.language));
    if (name == "starts_at") return format_rfc3339(alert.starts_at_ns);
    if (name == "ends_at") return alert.ends_at_ns ? format_rfc3339(*alert.ends_at_ns) : "";
    if (name == "generator_url") return alert.generator_url;
    if (name == "fingerprint") return alert.fingerprint;
    return std::string(find_labelled(name, alert.labels, alert.annotations));
  }

  std::size_t alerts() const { return notification_.alerts.size(); }

 private:
  const Notification& notification_;
  const ChannelOptions& options_;
  Message message_;
};

// What a place speaks of: within {{ each alerts }} of one of them.
enum class Scope { kMessage, kAlert };

std::vector<std::string_view> names_in(Scope scope) {
  if (scope == Scope::kAlert) return {kAlertNames.begin(), kAlertNames.end()};
  return {kNames.begin(), kNames.end()};
}

bool is_known(std::string_view name, Scope scope) {
  if (is_label(name)) return name.back() != '.';
  const auto names = names_in(scope);
  return std::ranges::find(names, name) != names.end();
}

base::Error unknown_name(std::string_view name, Scope scope, std::size_t line) {
  const auto near = base::nearest(name, names_in(scope));
  return {base::Code::kInvalidArgument,
          fmt::format("line {}: there is no {{{{ {} }}}}{}", line, base::clean_text(name, 64),
                      scope == Scope::kAlert ? " of an alert" : ""),
          near ? fmt::format("did you mean {}?", *near) : ""};
}

std::size_t line_of(std::string_view text, std::size_t place) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, place), '\n'));
}

}  // namespace

Escaping escaping_of(std::string_view content_type) {
  const std::string type = base::to_lower(content_type);
  if (type.find("json") != std::string::npos) return Escaping::kJson;
  if (type.find("x-www-form-urlencoded") != std::string::npos) return Escaping::kForm;
  if (type.find("xml") != std::string::npos || type.find("html") != std::string::npos) {
    return Escaping::kXml;
  }
  return Escaping::kNone;
}

base::Result<BodyTemplate> BodyTemplate::parse(std::string_view text) {
  BodyTemplate result;
  Scope scope = Scope::kMessage;
  const auto fault = [&](std::size_t place, std::string_view what) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("line {}: {}", line_of(text, place), what));
  };
  if (text.size() > kTemplateLimitBytes) {
    return base::fail(base::Code::kInvalidArgument, "it is larger than 64 KiB");
  }
  std::size_t place = 0;
  while (place < text.size()) {
    const std::size_t open = std::min(text.find("{{", place), text.size());
    if (open > place) {
      result.pieces_.push_back({.text = std::string(text.substr(place, open - place))});
    }
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    if (close == std::string_view::npos) return fault(open, "{{ is not closed by }}");
    const auto words = base::split_words(text.substr(open + 2, close - open - 2));
    place = close + 2;
    if (words.size() == 2 && words[0] == "each" && words[1] == "alerts") {
      if (scope == Scope::kAlert) return fault(open, "an {{ each alerts }} within another");
      scope = Scope::kAlert;
      result.pieces_.push_back({.kind = Kind::kEach});
    } else if (words.size() == 1 && words[0] == "end") {
      if (scope != Scope::kAlert) return fault(open, "{{ end }} without {{ each alerts }}");
      scope = Scope::kMessage;
      result.pieces_.push_back({.kind = Kind::kEnd});
    } else if (words.empty() || words.size() > 2) {
      return fault(open, "between {{ and }} stand a name and perhaps a number");
    } else {
      const auto limit = words.size() == 2 ? base::parse_u64(words[1]) : 0;
      if (!limit || (words.size() == 2 && (*limit == 0 || *limit > 1'000'000))) {
        return fault(open, "what follows a name is how many characters of it: 1 to 1000000");
      }
      if (!is_known(words[0], scope)) {
        return std::unexpected(unknown_name(words[0], scope, line_of(text, open)));
      }
      result.pieces_.push_back(
          {.kind = Kind::kPlace, .text = std::string(words[0]), .limit = *limit});
    }
  }
  if (scope == Scope::kAlert) return fault(text.size(), "{{ each alerts }} without {{ end }}");
  return result;
}

std::string BodyTemplate::render(const Notification& notification, const ChannelOptions& options,
                                 Escaping escaping) const {
  const Values values(notification, options);
  std::string body;
  bool is_in_loop = false;
  std::size_t alert = 0;
  std::size_t loop_start = 0;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    switch (piece.kind) {
      case Kind::kText:
        body += piece.text;
        break;
      case Kind::kEach:
        is_in_loop = true;
        alert = 0;
        loop_start = i;
        break;
      case Kind::kEnd:
        is_in_loop = ++alert < values.alerts();
        if (is_in_loop) i = loop_start;
        break;
      case Kind::kPlace:
        if (is_in_loop && piece.text == "comma") {
          // Ours, and not a value: no escaping makes %2C of it.
          body += alert + 1 < values.alerts() ? "," : "";
          break;
        }
        body += escape_value(escaping,
                             limit_characters(is_in_loop ? values.find_of_alert(piece.text, alert)
                                                         : values.find(piece.text),
                                              piece.limit));
        break;
    }
  }
  // The template's last line break would be one of the form's last value.
  if (escaping == Escaping::kForm) body.erase(body.find_last_not_of("\r\n") + 1);
  return body;
}

}  // namespace everywatt::notify
