// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "serve/notify/channel_options.h"
#include "serve/notify/message.h"

namespace everywatt::notify {

// What makes one mail different from the next, and its thread the same.
struct MailPlace {
  std::string group_key{};  // alerts of one group are one thread
  std::string unique{};     // of this notification
  std::int64_t wall_ns = 0;
};

// The mails that a message becomes, as RFC 5322 has them: multipart/alternative, lines that end
// with CRLF and are short, all in ASCII.
std::vector<std::string> mail_texts(const Message& message, const ChannelOptions& options,
                                    const MailPlace& place);

// "Subject" as RFC 2047 has it: words of base64 of at most 75 characters, cut between characters.
std::string encode_header(std::string_view text);

}  // namespace everywatt::notify
