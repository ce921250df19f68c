// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/token_hash.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>

namespace everywatt::courier_link {

std::string hash_token(std::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  std::string hex;
  for (const unsigned char byte : digest) {
    fmt::format_to(std::back_inserter(hex), "{:02x}", byte);
  }
  return hex;
}

bool is_same_hash(std::string_view left, std::string_view right) {
  return left.size() == right.size() &&
         ::CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace everywatt::courier_link
