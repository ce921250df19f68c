// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/signing.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>

#include "base/check.h"

namespace everywatt::notify {
namespace {

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes_of(bytes),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string percent_encode(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool is_unreserved = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                               (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_' ||
                               c == '~';
    if (is_unreserved) {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return result;
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  unsigned size = 0;
  const auto* done =
      ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes_of(message),
             message.size(), reinterpret_cast<unsigned char*>(digest.data()), &size);
  CHECK(done != nullptr && size == SHA256_DIGEST_LENGTH);
  return digest;
}

std::string sha256_hex(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  ::SHA256(bytes_of(text), text.size(), digest);
  std::string hex;
  for (const unsigned char byte : digest)
    hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string sign_dingtalk(std::int64_t timestamp_ms, std::string_view secret) {
  return base64(hmac_sha256(secret, fmt::format("{}\n{}", timestamp_ms, secret)));
}

std::string sign_feishu(std::int64_t timestamp_s, std::string_view secret) {
  return base64(hmac_sha256(fmt::format("{}\n{}", timestamp_s, secret), ""));
}

}  // namespace everywatt::notify
