// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/mail_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "serve/notify/signing.h"
#include "serve/notify/split.h"
#include "serve/notify/time_text.h"

namespace everywatt::notify {
namespace {

// A mail server takes megabytes, a reader does not.
constexpr Limits kLimits{
    .part = 200'000, .block = 8'000, .blocks = 2'000, .between = 8, .cost = plain_cost};

std::string base64_lines(std::string_view text) {
  constexpr std::size_t kLineBytes = 57;  // 76 characters
  std::string lines;
  for (; !text.empty(); text.remove_prefix(std::min(kLineBytes, text.size()))) {
    lines += base64(text.substr(0, kLineBytes)) + "\r\n";
  }
  return lines;
}

std::string id(std::string_view unique, const ChannelOptions& options) {
  const std::string domain = options.from.substr(options.from.find('@') + 1);
  return fmt::format("<{}@{}>", sha256_hex(unique).substr(0, 32), domain);
}

std::string part_text(Style style, const std::string& title, const std::vector<std::string>& blocks,
                      const Message& message) {
  std::string text = write_title(style, title);
  for (const std::string& block : blocks)
    text.append(block_break(style)).append(block);
  text.append(block_break(style)).append(write_line(style, message.foot));
  if (style == Style::kPlain) return text + "\n";
  return "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n" + text +
         "\n</body></html>\n";
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ",\r\n ") + word;
  return text;
}

}  // namespace

std::string encode_header(std::string_view text) {
  const bool is_plain = text.size() <= 60 &&
                        std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7f; }) &&
                        text.find("=?") == std::string_view::npos;
  if (is_plain) return std::string(text);
  // 60 of base64 and 12 around them; before the first stands the header's name, and a line with
  // such words has at most 76 characters.
  constexpr std::size_t kWordBytes = 45;
  constexpr std::size_t kFirstWordBytes = 39;
  std::string header;
  while (!text.empty()) {
    std::size_t size = std::min(header.empty() ? kFirstWordBytes : kWordBytes, text.size());
    while (size < text.size() && size > 1 &&
           (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80)
      --size;
    header += fmt::format("{}=?UTF-8?B?{}?=", header.empty() ? "" : "\r\n ",
                          base64(text.substr(0, size)));
    text.remove_prefix(size);
  }
  return header;
}

std::vector<std::string> mail_texts(const Message& message, const ChannelOptions& options,
                                    const MailPlace& place) {
  // HTML is the longer of the two: whoever reads plain text has read all at the latest with it.
  const std::vector<Part> html_parts = split(message, Style::kHtml, kLimits);
  const std::vector<Part> plain_parts = split(message, Style::kPlain, kLimits);
  std::vector<std::string> mails;
  for (std::size_t i = 0; i < html_parts.size(); ++i) {
    const std::string title =
        html_parts.size() > 1 ? fmt::format("{} ({}/{})", message.title, i + 1, html_parts.size())
                              : message.title;
    const std::string unique = fmt::format("{}/{}/{}", place.group_key, place.unique, i);
    const std::string boundary = "everywatt-" + sha256_hex("boundary " + unique).substr(0, 24);
    const std::string thread = id("thread " + place.group_key, options);
    std::string mail;
    const auto header = [&](std::string_view name, std::string_view value) {
      mail += fmt::format("{}: {}\r\n", name, value);
    };
    header("Date", format_mail_date(place.wall_ns));
    header("From", "Everywatt <" + options.from + ">");
    header("To", join(options.to));
    header("Subject", encode_header(title));
    header("Message-ID", id(unique, options));
    header("In-Reply-To", thread);
    header("References", thread);
    header("Auto-Submitted", "auto-generated");
    if (message.tone == Tone::kCritical) header("Importance", "high");
    header("MIME-Version", "1.0");
    header("Content-Type", fmt::format("multipart/alternative;\r\n boundary=\"{}\"", boundary));
    const auto body = [&](std::string_view type, const std::string& text) {
      mail += fmt::format(
          "\r\n--{}\r\nContent-Type: {}; charset=utf-8\r\nContent-Transfer-Encoding: "
          "base64\r\n\r\n",
          boundary, type);
      mail += base64_lines(text);
    };
    static const Part kNothing;
    const Part& plain = i < plain_parts.size() ? plain_parts[i] : kNothing;
    body("text/plain", part_text(Style::kPlain, title, plain.blocks, message));
    body("text/html", part_text(Style::kHtml, title, html_parts[i].blocks, message));
    mail += fmt::format("\r\n--{}--\r\n", boundary);
    mails.push_back(std::move(mail));
  }
  return mails;
}

}  // namespace everywatt::notify
