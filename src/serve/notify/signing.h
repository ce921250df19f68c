// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace everywatt::notify {

std::string base64(std::string_view bytes);
std::string percent_encode(std::string_view text);  // all but RFC 3986's unreserved characters
std::string hmac_sha256(std::string_view key, std::string_view message);  // 32 bytes
std::string sha256_hex(std::string_view text);

// The two robots that sign do it with the same words in reversed roles. DingTalk: the secret is the
// key, milliseconds and secret are the message.
std::string sign_dingtalk(std::int64_t timestamp_ms, std::string_view secret);
// Feishu: seconds and secret are the key, the message is empty.
std::string sign_feishu(std::int64_t timestamp_s, std::string_view secret);

}  // namespace everywatt::notify
