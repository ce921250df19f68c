// SPDX-License-Identifier: Apache-2.0
#include "serve/web/password_hash.h"

#include <crypt.h>
#include <fmt/format.h>
#include <openssl/crypto.h>

#include <memory>

#include "base/text.h"

namespace everywatt::web {
namespace {

constexpr std::size_t kHashBytes = 60;  // "$2b$10$", 22 of salt, 31 of hash
constexpr std::size_t kPasswordBytes = 72;
constexpr unsigned kLowestCost = 4;
constexpr unsigned kHighestCost = 31;
constexpr std::string_view kDigits =
    "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

// "" where it cannot be computed.
std::string compute_hash(const std::string& password, const std::string& setting) {
  const auto memory = std::make_unique<crypt_data>();  // 32 KiB: too much for a stack
  const char* hash = ::crypt_r(password.c_str(), setting.c_str(), memory.get());
  std::string computed = hash == nullptr || hash[0] == '*' ? "" : hash;
  ::OPENSSL_cleanse(memory.get(), sizeof(crypt_data));
  return computed;
}

// As much work as a check against a hash of that cost is.
void waste(const std::string& password, unsigned cost) {
  compute_hash(password, fmt::format("$2b${:02}$NobodyHasThisPassword.", cost));
}

}  // namespace

base::Status judge_password_hash(std::string_view hash) {
  constexpr const char* kHint = "make one with: htpasswd -nBC 10 \"\" | tr -d ':\\n'";
  const bool is_bcrypt =
      hash.starts_with("$2a$") || hash.starts_with("$2b$") || hash.starts_with("$2y$");
  if (!is_bcrypt) return base::fail(base::Code::kInvalidArgument, "not a bcrypt hash", kHint);
  if (hash.size() != kHashBytes || hash[6] != '$' ||
      hash.substr(7).find_first_not_of(kDigits) != std::string_view::npos) {
    return base::fail(base::Code::kInvalidArgument, "a bcrypt hash that is not whole", kHint);
  }
  const auto cost = base::parse_u64(hash.substr(4, 2));
  if (!cost || *cost < kLowestCost || *cost > kHighestCost) {
    return base::fail(base::Code::kInvalidArgument, "a bcrypt hash whose cost is not 4 to 31",
                      kHint);
  }
  return {};
}

unsigned cost_of(std::string_view hash) {
  return static_cast<unsigned>(base::parse_u64(hash.substr(4, 2)).value_or(kLowestCost));
}

bool check_password(std::string_view password, const std::string& hash, unsigned cost) {
  // The library takes the password up to its first zero byte. Nobody has one with such a byte.
  const bool is_possible = password.find('\0') == std::string_view::npos;
  std::string taken(password.substr(0, kPasswordBytes));
  bool is_right = false;
  if (hash.empty()) {
    waste(taken, cost);
  } else {
    const std::string computed = compute_hash(taken, hash);
    is_right = is_possible && computed.size() == hash.size() &&
               ::CRYPTO_memcmp(computed.data(), hash.data(), hash.size()) == 0;
    // 2^a + 2^a + 2^(a+1) + ... + 2^(b-1) = 2^b
    for (unsigned wasted = cost_of(hash); wasted < cost; ++wasted)
      waste(taken, wasted);
  }
  ::OPENSSL_cleanse(taken.data(), taken.size());
  return is_right;
}

}  // namespace everywatt::web
