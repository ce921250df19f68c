// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/markup.h"

#include <fmt/format.h>

#include <array>

namespace everywatt::notify {
namespace {

struct Stand {
  char character;
  std::string_view stand_in;
};

// DingTalk and WeCom speak markdowns of their own and say nothing of how to escape in them; what
// their clients make of a backslash or of &lt; differs. The wide form of a character is safe in
// all.
constexpr std::array kWide{Stand{'*', "\uFF0A"},  Stand{'`', "\uFF07"}, Stand{'[', "\uFF3B"},
                           Stand{']', "\uFF3D"},  Stand{'<', "\uFF1C"}, Stand{'>', "\uFF1E"},
                           Stand{'\\', "\uFF3C"}, Stand{'~', "\uFF5E"}, Stand{'@', "\uFF20"},
                           Stand{'|', "\uFF5C"},  Stand{'#', "\uFF03"}};

// As Feishu's page on cards says.
constexpr std::array kFeishu{Stand{'&', "&#38;"}, Stand{'<', "&#60;"}, Stand{'>', "&#62;"},
                             Stand{'*', "&#42;"}, Stand{'_', "&#95;"}, Stand{'~', "&#126;"},
                             Stand{'`', "&#96;"}, Stand{'[', "&#91;"}, Stand{']', "&#93;"},
                             Stand{'(', "&#40;"}, Stand{')', "&#41;"}, Stand{'#', "&#35;"},
                             Stand{'\\', "&#92;"}};

// Slack has three entities; its marks for bold and the like have no other form.
constexpr std::array kSlack{Stand{'&', "&amp;"},  Stand{'<', "&lt;"},   Stand{'>', "&gt;"},
                            Stand{'*', "\uFF0A"}, Stand{'`', "\uFF07"}, Stand{'~', "\uFF5E"}};

constexpr std::array kHtml{Stand{'&', "&amp;"}, Stand{'<', "&lt;"}, Stand{'>', "&gt;"},
                           Stand{'"', "&quot;"}, Stand{'\'', "&#39;"}};

template <std::size_t count>
std::string replace(std::string_view text, const std::array<Stand, count>& stands) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    std::size_t i = 0;
    while (i < count && stands[i].character != c)
      ++i;
    if (i < count) {
      result += stands[i].stand_in;
    } else {
      result += c;
    }
  }
  return result;
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

// Within a word it is a letter to every markdown, and names of metrics are full of it.
std::string widen_outer_underscores(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_inner =
        i > 0 && i + 1 < text.size() && is_word(text[i - 1]) && is_word(text[i + 1]);
    if (text[i] == '_' && !is_inner) {
      result += "\uFF3F";
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string_view colour(Style style, Tone tone) {
  const bool is_good = tone == Tone::kResolved;
  const bool is_bad = tone == Tone::kCritical;
  switch (style) {
    case Style::kDingTalk:
    case Style::kHtml:
      return is_good ? "#188038" : is_bad ? "#d93025" : tone == Tone::kInfo ? "#1a73e8" : "#e37400";
    case Style::kWeCom:
      return is_good ? "info" : tone == Tone::kInfo ? "comment" : "warning";
    case Style::kFeishu:
      return is_good ? "green" : tone == Tone::kInfo ? "grey" : "red";
    default:
      return "";
  }
}

std::string write_heading(Style style, const Line& line) {
  const std::string label = escape(style, line.label);
  const std::string text = escape(style, line.text);
  switch (style) {
    case Style::kPlain:
      return fmt::format("{} {}", label, text);
    case Style::kHtml:
      return fmt::format("<b><span style=\"color:{}\">{}</span> {}</b>", colour(style, line.tone),
                         label, text);
    case Style::kDingTalk:
      return fmt::format("<font color=\"{}\">{}</font> **{}**", colour(style, line.tone), label,
                         text);
    case Style::kWeCom:
      return fmt::format("<font color=\"{}\">{}</font> **{}**", colour(style, line.tone), label,
                         text);
    case Style::kFeishu:
      return fmt::format("<font color='{}'>{}</font> **{}**", colour(style, line.tone), label,
                         text);
    case Style::kSlack:
      return fmt::format("*{} {}*", label, text);
  }
  return {};
}

std::string write_link(Style style, const Line& line) {
  const std::string label = escape(style, line.label);
  const std::string url = link_target(line.url);
  switch (style) {
    case Style::kPlain:
      return fmt::format("{}: {}", label, line.url);
    case Style::kHtml:
      return fmt::format("<a href=\"{}\">{}</a>", escape(style, url), label);
    case Style::kSlack:
      return fmt::format("<{}|{}>", escape(style, url), label);
    default:
      return fmt::format("[{}]({})", label, url);
  }
}

}  // namespace

std::string escape(Style style, std::string_view text) {
  switch (style) {
    case Style::kPlain:
      return std::string(text);
    case Style::kHtml:
      return replace(text, kHtml);
    case Style::kDingTalk:
    case Style::kWeCom:
      return widen_outer_underscores(replace(text, kWide));
    case Style::kFeishu:
      return replace(text, kFeishu);
    case Style::kSlack:
      return widen_outer_underscores(replace(text, kSlack));
  }
  return {};
}

std::string write_line(Style style, const Line& line) {
  switch (line.kind) {
    case LineKind::kHeading:
      return write_heading(style, line);
    case LineKind::kLink:
      return write_link(style, line);
    case LineKind::kNote:
      return escape(style, line.text);
    case LineKind::kPair:
      break;
  }
  const std::string label = escape(style, line.label);
  const std::string text = escape(style, line.text);
  if (style == Style::kHtml) return fmt::format("<b>{}</b>: {}", label, text);
  // A quote's bar before a name is how these show what is said about something.
  if (style == Style::kDingTalk || style == Style::kWeCom)
    return fmt::format("> {}: {}", label, text);
  return fmt::format("{}: {}", label, text);
}

std::string write_title(Style style, std::string_view title) {
  const std::string text = escape(style, title);
  switch (style) {
    case Style::kHtml:
      return fmt::format("<h3>{}</h3>", text);
    case Style::kDingTalk:
    case Style::kWeCom:
      return fmt::format("### {}", text);
    case Style::kSlack:
    case Style::kFeishu:
      return fmt::format("*{}*", text);
    case Style::kPlain:
      return text;
  }
  return {};
}

std::string_view line_break(Style style) {
  switch (style) {
    case Style::kHtml:
      return "<br>\n";
    case Style::kDingTalk:
      return "  \n";  // two blanks: without them markdown goes on in the same line
    default:
      return "\n";
  }
}

std::string_view block_break(Style style) {
  return style == Style::kHtml ? "\n<hr>\n" : "\n\n";
}

std::string link_target(std::string_view url) {
  std::string result;
  for (const char c : url) {
    const auto byte = static_cast<unsigned char>(c);
    const bool ends_a_link =
        byte <= ' ' || byte >= 0x7f ||
        std::string_view("<>()[]|\"'\\`^{}*").find(c) != std::string_view::npos;
    if (ends_a_link) {
      result += fmt::format("%{:02X}", byte);
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace everywatt::notify
