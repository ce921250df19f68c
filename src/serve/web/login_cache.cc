// SPDX-License-Identifier: Apache-2.0
#include "serve/web/login_cache.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>
#include <string>

#include "base/check.h"

namespace everywatt::web {

// It is a hash already, and nobody outside can choose it.
std::size_t HashOfLoginKey::operator()(const LoginKey& key) const {
  std::size_t hash = 0;
  std::memcpy(&hash, key.data(), sizeof(hash));
  return hash;
}

LoginCache::LoginCache(std::size_t limit) : limit_(limit) {
  CHECK(::RAND_bytes(secret_.data(), static_cast<int>(secret_.size())) == 1);
}

LoginKey LoginCache::key_of(std::initializer_list<std::string_view> parts) const {
  std::string bytes;
  for (const std::string_view part : parts) {
    // With its length before it no part can run into the next.
    const std::uint64_t size = part.size();
    bytes.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(part);
  }
  LoginKey key{};
  CHECK(::HMAC(::EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
               reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), key.data(),
               nullptr) != nullptr);
  ::OPENSSL_cleanse(bytes.data(), bytes.size());
  return key;
}

bool LoginCache::contains(const LoginKey& key) {
  const auto found = places_.find(key);
  if (found == places_.end()) return false;
  recent_.splice(recent_.begin(), recent_, found->second);
  return true;
}

void LoginCache::add(const LoginKey& key) {
  if (limit_ == 0 || contains(key)) return;
  if (places_.size() >= limit_) {
    places_.erase(recent_.back());
    recent_.pop_back();
  }
  recent_.push_front(key);
  places_.emplace(key, recent_.begin());
}

void LoginCache::clear() {
  places_.clear();
  recent_.clear();
}

}  // namespace everywatt::web
