// SPDX-License-Identifier: Apache-2.0
#include "serve/web/places.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

TEST(Places, AreForAnybodyWhileOneIsFree) {
  Places places(3);
  for (int i = 0; i < 3; ++i) {
    const auto admission = places.try_admit("a");
    ASSERT_TRUE(admission);
    EXPECT_FALSE(admission->gives_up);
  }
  EXPECT_FALSE(places.try_admit("a"));
  EXPECT_EQ(places.taken(), 3U);
}

TEST(Places, OneIsGivenUpToWhoHoldsFewer) {
  Places places(3);
  const auto first = places.try_admit("a");
  const auto second = places.try_admit("a");
  places.try_admit("a");
  places.note_served(first->id);
  const auto admission = places.try_admit("b");
  ASSERT_TRUE(admission);
  EXPECT_EQ(admission->gives_up, second->id);  // served the longest ago
  EXPECT_EQ(places.taken(), 3U);
  // Two against one: a second for b would leave a with fewer.
  EXPECT_FALSE(places.try_admit("b"));
  EXPECT_FALSE(places.try_admit("a"));
}

TEST(Places, AreNotGivenUpAmongEquals) {
  Places places(2);
  places.try_admit("a");
  places.try_admit("b");
  EXPECT_FALSE(places.try_admit("c"));
  EXPECT_FALSE(Places(0).try_admit("a"));
}

TEST(Places, AreFreeAgainWhenLeft) {
  Places places(1);
  const auto first = places.try_admit("a");
  places.leave(first->id);
  places.leave(first->id);
  places.note_served(first->id);
  EXPECT_EQ(places.taken(), 0U);
  const auto second = places.try_admit("b");
  ASSERT_TRUE(second);
  EXPECT_NE(second->id, first->id);
}

}  // namespace
}  // namespace everywatt::web
