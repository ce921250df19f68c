// SPDX-License-Identifier: Apache-2.0
#include "serve/web/password_hash.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

constexpr unsigned kCost = 4;

TEST(PasswordHash, OfAllThreeKindsIsChecked) {
  // The published test vector of bcrypt: U*U*U at cost 5.
  for (const char* hash : {"$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a",
                           "$2b$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a",
                           "$2y$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"}) {
    ASSERT_TRUE(judge_password_hash(hash));
    EXPECT_EQ(cost_of(hash), 5U);
    EXPECT_TRUE(check_password("U*U*U", hash, 5));
    EXPECT_FALSE(check_password("U*U*", hash, 5));
    EXPECT_FALSE(check_password("", hash, 5));
    EXPECT_FALSE(check_password(std::string_view("U*U*U\0x", 7), hash, 5));
  }
}

TEST(PasswordHash, TakesTheFirst72BytesOfAPassword) {
  // The published vector of a long password.
  const std::string hash = "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui";
  const std::string password =
      "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "chars after 72 are ignored";
  EXPECT_TRUE(check_password(password, hash, 5));
  EXPECT_TRUE(check_password(password + std::string(10'000, 'x'), hash, 5));
}

TEST(PasswordHash, OfNobodyIsNeverRight) {
  EXPECT_FALSE(check_password("", "", kCost));
  EXPECT_FALSE(check_password("x", "", kCost));
}

TEST(PasswordHash, IsRightAtAnyCostThatIsAskedFor) {
  const std::string hash = "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a";
  EXPECT_TRUE(check_password("U*U*U", hash, 7));
  EXPECT_FALSE(check_password("U*U*V", hash, 7));
}

}  // namespace
}  // namespace everywatt::web
