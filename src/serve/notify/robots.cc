// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/robots.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "serve/notify/signing.h"
#include "serve/notify/split.h"

namespace everywatt::notify {
namespace {

using nlohmann::ordered_json;

// The services' own limits, less a little where they do not say what they count.
constexpr std::size_t kDingTalkBodyBytes = 19'900;  // it refuses 20 000 and more
constexpr std::size_t kWeComTextBytes = 4096;
constexpr std::size_t kFeishuBodyBytes = 20'000;  // 20 KB, signature included
constexpr std::size_t kFeishuSignBytes = 120;
constexpr std::size_t kSlackSectionBytes = 2900;  // 3000 characters
constexpr std::size_t kSlackSections = 40;        // 50 blocks
constexpr std::size_t kSlackTextBytes = 12'000;   // the same again stands in `text`, of 40 000
constexpr std::size_t kSlackHeaderBytes = 140;    // 150 characters

// " (2/3)", for more than one.
std::string part_title(const std::string& title, std::size_t part, std::size_t parts) {
  return parts > 1 ? fmt::format("{} ({}/{})", title, part + 1, parts) : title;
}

std::string longest_title(const Message& message) {
  return part_title(message.title, kPartsLimit - 1, kPartsLimit);
}

std::string join(const std::vector<std::string>& blocks, std::string_view between) {
  std::string text;
  for (const std::string& block : blocks) {
    if (!text.empty()) text += between;
    text += block;
  }
  return text;
}

// Whether this message calls people at all: what is over calls nobody.
bool calls_mobiles(const Message& message, const ChannelOptions& options) {
  return message.tone != Tone::kResolved && !options.at_mobiles.empty();
}

bool calls_all(const Message& message, const ChannelOptions& options) {
  return message.tone == Tone::kCritical && options.at_all_critical == AtAllCritical::kYes;
}

// Title, blocks and foot as one text.
std::string whole_text(Style style, const std::string& title,
                       const std::vector<std::string>& blocks, const Message& message) {
  const std::string_view between = block_break(style);
  return fmt::format("{}{}{}{}{}", write_title(style, title), between, join(blocks, between),
                     between, write_line(style, message.foot));
}

std::string dingtalk_body(const Message& message, const ChannelOptions& options,
                          const std::string& title, const Part& part, std::size_t index) {
  std::string text = whole_text(Style::kDingTalk, title, part.blocks, message);
  ordered_json at = {{"atMobiles", ordered_json::array()}, {"isAtAll", false}};
  if (index == 0 && calls_mobiles(message, options)) {
    text += block_break(Style::kDingTalk);
    for (const std::string& mobile : options.at_mobiles)
      text += fmt::format("@{} ", mobile);
    text.pop_back();
    at["atMobiles"] = options.at_mobiles;
  }
  if (index == 0 && calls_all(message, options)) at["isAtAll"] = true;
  return ordered_json{
      {"msgtype", "markdown"}, {"markdown", {{"title", title}, {"text", text}}}, {"at", at}}
      .dump();
}

std::string wecom_call(const Message& message, const ChannelOptions& options) {
  ordered_json text = {{"content", message.title}};
  if (calls_all(message, options)) text["mentioned_list"] = {"@all"};
  if (calls_mobiles(message, options)) text["mentioned_mobile_list"] = options.at_mobiles;
  return ordered_json{{"msgtype", "text"}, {"text", text}}.dump();
}

std::string_view feishu_colour(Tone tone) {
  switch (tone) {
    case Tone::kCritical:
      return "red";
    case Tone::kWarning:
      return "orange";
    case Tone::kInfo:
      return "blue";
    case Tone::kResolved:
      return "green";
  }
  return "blue";
}

std::string feishu_body(const Message& message, const ChannelOptions& options,
                        const std::string& title, const Part& part, std::size_t index) {
  const auto markdown = [](const std::string& text) {
    return ordered_json{{"tag", "lark_md"}, {"content", text}};
  };
  ordered_json elements = ordered_json::array();
  for (const std::string& block : part.blocks) {
    elements.push_back({{"tag", "div"}, {"text", markdown(block)}});
  }
  if (index == 0 && calls_all(message, options)) {
    elements.push_back({{"tag", "div"}, {"text", markdown("<at id=all></at>")}});
  }
  elements.push_back(
      {{"tag", "note"}, {"elements", {markdown(write_line(Style::kFeishu, message.foot))}}});
  ordered_json card = {
      {"config", {{"wide_screen_mode", true}}},
      {"header",
       {{"title", {{"tag", "plain_text"}, {"content", title}}},
        {"template", feishu_colour(message.tone)}}},
      {"elements", elements},
  };
  return ordered_json{{"msg_type", "interactive"}, {"card", card}}.dump();
}

std::string slack_body(const Message& message, const ChannelOptions& options,
                       const std::string& title, const Part& part, std::size_t index) {
  // Verbatim: no channel, user or address is made of plain words.
  const auto markdown = [](const std::string& text) {
    return ordered_json{{"type", "mrkdwn"}, {"text", text}, {"verbatim", true}};
  };
  ordered_json blocks = ordered_json::array();
  std::string header = title;
  if (header.size() > kSlackHeaderBytes) {
    header = base::clean_text(title, kSlackHeaderBytes - 3) + "…";
  }
  blocks.push_back(
      {{"type", "header"}, {"text", {{"type", "plain_text"}, {"text", header}, {"emoji", false}}}});
  if (index == 0 && calls_all(message, options)) {
    blocks.push_back({{"type", "section"}, {"text", markdown("<!channel>")}});
  }
  for (const std::string& block : part.blocks) {
    blocks.push_back({{"type", "section"}, {"text", markdown(block)}});
  }
  blocks.push_back(
      {{"type", "context"}, {"elements", {markdown(write_line(Style::kSlack, message.foot))}}});
  return ordered_json{{"text", whole_text(Style::kSlack, title, part.blocks, message)},
                      {"blocks", blocks}}
      .dump();
}

using WriteBody = std::string (*)(const Message&, const ChannelOptions&, const std::string&,
                                  const Part&, std::size_t);

// What the body of a part without blocks takes: the first, which has all that a part can have.
std::size_t bare_bytes(WriteBody write, const Message& message, const ChannelOptions& options) {
  return write(message, options, longest_title(message), {}, 0).size();
}

std::vector<std::string> write_parts(WriteBody write, const Message& message,
                                     const ChannelOptions& options, Style style,
                                     const Limits& limits) {
  const std::vector<Part> parts = split(message, style, limits);
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    bodies.push_back(
        write(message, options, part_title(message.title, i, parts.size()), parts[i], i));
  }
  return bodies;
}

}  // namespace

std::vector<std::string> dingtalk_bodies(const Message& message, const ChannelOptions& options) {
  Limits limits{.cost = json_cost};
  limits.between = json_cost(block_break(Style::kDingTalk));
  limits.part = kDingTalkBodyBytes - bare_bytes(dingtalk_body, message, options);
  limits.block = limits.part;
  return write_parts(dingtalk_body, message, options, Style::kDingTalk, limits);
}

std::vector<std::string> wecom_bodies(const Message& message, const ChannelOptions& options) {
  Limits limits{.cost = plain_cost};
  limits.between = block_break(Style::kWeCom).size();
  limits.part =
      kWeComTextBytes - whole_text(Style::kWeCom, longest_title(message), {}, message).size();
  limits.block = limits.part;
  const std::vector<Part> parts = split(message, Style::kWeCom, limits);
  std::vector<std::string> bodies;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string text = whole_text(Style::kWeCom, part_title(message.title, i, parts.size()),
                                        parts[i].blocks, message);
    bodies.push_back(
        ordered_json{{"msgtype", "markdown"}, {"markdown", {{"content", text}}}}.dump());
  }
  if (calls_mobiles(message, options) || calls_all(message, options)) {
    bodies.push_back(wecom_call(message, options));
  }
  return bodies;
}

std::vector<std::string> feishu_bodies(const Message& message, const ChannelOptions& options) {
  Limits limits{.cost = json_cost};
  limits.between =
      ordered_json{{"tag", "div"}, {"text", {{"tag", "lark_md"}, {"content", ""}}}}.dump().size() +
      1;
  limits.part = kFeishuBodyBytes - kFeishuSignBytes - bare_bytes(feishu_body, message, options);
  limits.block = limits.part;
  return write_parts(feishu_body, message, options, Style::kFeishu, limits);
}

std::vector<std::string> slack_bodies(const Message& message, const ChannelOptions& options) {
  const Limits limits{.part = kSlackTextBytes,
                      .block = kSlackSectionBytes,
                      .blocks = kSlackSections,
                      .between = block_break(Style::kSlack).size(),
                      .cost = plain_cost};
  return write_parts(slack_body, message, options, Style::kSlack, limits);
}

std::string plain_slack_body(std::string_view body) {
  ordered_json plain = ordered_json::parse(body, nullptr, false);
  if (plain.is_object()) plain.erase("blocks");
  return plain.dump();
}

std::string sign_feishu_body(std::string_view body, std::int64_t timestamp_s,
                             std::string_view secret) {
  return fmt::format(R"({{"timestamp":"{}","sign":"{}",{})", timestamp_s,
                     sign_feishu(timestamp_s, secret), body.substr(1));
}

}  // namespace everywatt::notify
