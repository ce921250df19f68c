// SPDX-License-Identifier: Apache-2.0
#include "serve/web/login_cache.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

TEST(LoginCache, HoldsWhatWasAddedUntilItIsCleared) {
  LoginCache cache;
  const LoginKey alice = cache.key_of({"10.0.0.1", "alice", "wonder"});
  EXPECT_FALSE(cache.contains(alice));
  cache.add(alice);
  cache.add(alice);
  EXPECT_TRUE(cache.contains(alice));
  EXPECT_EQ(cache.size(), 1U);
  cache.clear();
  EXPECT_FALSE(cache.contains(alice));
}

TEST(LoginCache, KnowsLoginsApart) {
  const LoginCache cache;
  EXPECT_EQ(cache.key_of({"a", "b"}), cache.key_of({"a", "b"}));
  EXPECT_NE(cache.key_of({"a", "b"}), cache.key_of({"ab", ""}));
  EXPECT_NE(cache.key_of({"a", "b"}), cache.key_of({"a", "b", ""}));
}

TEST(LoginCache, HasAKeyOfItsOwn) {
  EXPECT_NE(LoginCache().key_of({"a", "b"}), LoginCache().key_of({"a", "b"}));
}

TEST(LoginCache, ForgetsWhatWasUsedTheLongestAgo) {
  LoginCache cache(2);
  const LoginKey a = cache.key_of({"a"});
  const LoginKey b = cache.key_of({"b"});
  const LoginKey c = cache.key_of({"c"});
  cache.add(a);
  cache.add(b);
  EXPECT_TRUE(cache.contains(a));
  cache.add(c);
  EXPECT_TRUE(cache.contains(a));
  EXPECT_FALSE(cache.contains(b));
  EXPECT_TRUE(cache.contains(c));
  EXPECT_EQ(cache.size(), 2U);
}

}  // namespace
}  // namespace everywatt::web
