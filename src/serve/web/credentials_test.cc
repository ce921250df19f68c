// SPDX-License-Identifier: Apache-2.0
#include "serve/web/credentials.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

using Kind = Credentials::Kind;

TEST(Credentials, OfBasicAreAUserAndAPassword) {
  const Credentials alice = parse_authorization("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(alice.kind, Kind::kPassword);
  EXPECT_EQ(alice.user, "Aladdin");
  EXPECT_EQ(alice.secret, "open sesame");
  // "a:b:c", "a:", ":"
  EXPECT_EQ(parse_authorization("bAsIc  YTpiOmM=").secret, "b:c");
  EXPECT_EQ(parse_authorization("Basic YTo=").kind, Kind::kPassword);
  EXPECT_EQ(parse_authorization("Basic Og==").user, "");
}

TEST(Credentials, OfBearerAreAToken) {
  const Credentials token = parse_authorization("bearer abc.DEF-1");
  EXPECT_EQ(token.kind, Kind::kToken);
  EXPECT_EQ(token.secret, "abc.DEF-1");
}

TEST(Credentials, OfAnythingElseAreUnreadable) {
  for (const char* field : {"", "Basic", "Basic ", "Basic a", "Basic YTpi!A==", "Basic YWJj",
                            "Bearer", "Bearer ", "Digest a=b", "Basic YTpi====", "=== ="}) {
    EXPECT_EQ(parse_authorization(field).kind, Kind::kUnreadable) << field;
  }
}

}  // namespace
}  // namespace everywatt::web
