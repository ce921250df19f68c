// SPDX-License-Identifier: Apache-2.0
#include "serve/web/tokens.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

TEST(Tokens, AreTakenAsTheyAreOrHashedWithOrWithoutAName) {
  const auto tokens = parse_tokens(
      "# of the cluster\n"
      "\n"
      "plain-token\r\n"
      "  grafana   named-token   # Grafana's\n"
      // "abc"
      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n"
      // "hello"
      "x sha256:2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824",
      "t");
  ASSERT_TRUE(tokens) << tokens.error().message;
  EXPECT_EQ(tokens->size(), 4U);
  for (const char* token : {"plain-token", "named-token", "abc", "hello"})
    EXPECT_TRUE(is_one_of(*tokens, token)) << token;
  for (const char* token : {"", "plain-toke", "plain-token2", "grafana", "sha256:ba7816bf", "#"})
    EXPECT_FALSE(is_one_of(*tokens, token)) << token;
}

std::string fault(std::string_view text) {
  const auto tokens = parse_tokens(text, "/t");
  return tokens ? "" : tokens.error().message;
}

TEST(Tokens, AreNotShownWhenALineIsWrong) {
  EXPECT_EQ(fault("a\nmy secret token\n"), "/t:2: more than a name and a token");
  EXPECT_EQ(fault("sha256:12"), "/t:1: sha256: wants 64 hexadecimal digits");
  EXPECT_EQ(fault("sha256:" + std::string(63, 'a') + "g"),
            "/t:1: sha256: wants 64 hexadecimal digits");
}

// Otherwise an empty file would let anybody in.
TEST(Tokens, MustBeAtLeastOne) {
  EXPECT_EQ(fault(""), "/t: no token in it");
  EXPECT_EQ(fault("# none\n"), "/t: no token in it");
}

}  // namespace
}  // namespace everywatt::web
