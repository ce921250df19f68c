// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <list>
#include <string_view>
#include <unordered_map>

#include "serve/web/tokens.h"

namespace everywatt::web {

// Stands for a login where the login itself is not to be kept.
using LoginKey = Sha256;

struct HashOfLoginKey {
  std::size_t operator()(const LoginKey& key) const;
};

// The logins that were right, so that they need not be checked again: as HMAC-SHA256 under a key
// that this process alone has. Bounded: the one that was used the longest ago goes first. Belongs
// to one thread.
class LoginCache {
 public:
  explicit LoginCache(std::size_t limit = 1024);

  // The same for the same parts alone.
  LoginKey key_of(std::initializer_list<std::string_view> parts) const;

  bool contains(const LoginKey& key);
  void add(const LoginKey& key);
  void clear();
  std::size_t size() const { return places_.size(); }

 private:
  const std::size_t limit_;
  Sha256 secret_{};
  std::list<LoginKey> recent_;  // the latest first
  std::unordered_map<LoginKey, std::list<LoginKey>::iterator, HashOfLoginKey> places_;
};

}  // namespace everywatt::web
