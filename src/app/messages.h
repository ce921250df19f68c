// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

#include "app/language.h"

// All that the program says to people, in both languages, from one table: messages.inc.
namespace everywatt::app {

enum class Message : unsigned {
#define MESSAGE(id, en, zh) id,
#include "app/messages.inc"
#undef MESSAGE
};

struct MessageText {
  std::string_view name;
  std::string_view en;
  std::string_view zh;
};
std::span<const MessageText> messages();

// The text as it stands in the table, with its {} places.
std::string_view text(Language language, Message message);

std::string format_message(Language language, Message message, fmt::format_args arguments);

// The text with its places filled in.
template <typename... T>
std::string say(Language language, Message message, const T&... arguments) {
  return format_message(language, message, fmt::make_format_args(arguments...));
}

}  // namespace everywatt::app
