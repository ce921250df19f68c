// SPDX-License-Identifier: Apache-2.0
#include "app/messages.h"

#include <array>

namespace everywatt::app {
namespace {

constexpr auto kMessages = std::to_array<MessageText>({
#define MESSAGE(id, en, zh) {#id, en, zh},
#include "app/messages.inc"
#undef MESSAGE
});

}  // namespace

std::span<const MessageText> messages() {
  return kMessages;
}

std::string_view text(Language language, Message message) {
  const MessageText& both = kMessages[static_cast<unsigned>(message)];
  return language == Language::kZh ? both.zh : both.en;
}

std::string format_message(Language language, Message message, fmt::format_args arguments) {
  return fmt::vformat(text(language, message), arguments);
}

}  // namespace everywatt::app
