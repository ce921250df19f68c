// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "serve/notify/message.h"

namespace everywatt::notify {

// What a channel reads as more than letters.
enum class Style { kPlain, kHtml, kDingTalk, kWeCom, kFeishu, kSlack };

// The text so that its reader sees it as it is, and it can neither mention people nor format, link
// or close anything. Where a style has no way to say a character that it takes for its own, a
// look-alike stands for it.
std::string escape(Style style, std::string_view text);

// One line with its markup, without a line break.
std::string write_line(Style style, const Line& line);

// The title as the first line of a text in this style.
std::string write_title(Style style, std::string_view title);

// Between two lines, and between two alerts.
std::string_view line_break(Style style);
std::string_view block_break(Style style);

// An address of http in which nothing is left that ends a link in any style.
std::string link_target(std::string_view url);

}  // namespace everywatt::notify
