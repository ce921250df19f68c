// SPDX-License-Identifier: Apache-2.0
#include "serve/web/body_cache.h"

#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

using Encoding = BodyCache::Encoding;

class BodyCacheTest : public testing::Test {
 protected:
  std::string text(const std::string& key, const Tick& tick, std::int64_t now_ns) {
    return *get(key, tick, now_ns);
  }
  BodyCache::Bytes get(const std::string& key, const Tick& tick, std::int64_t now_ns,
                       Encoding encoding = Encoding::kPlain) {
    return cache_.get(key, tick, now_ns, encoding,
                      [&](std::string& text) { text = key + " " + std::to_string(++made_); });
  }

  BodyCache cache_;
  int made_ = 0;
};

TEST_F(BodyCacheTest, OneAnswerATickIsMadeForAll) {
  const Tick tick{.generation = 1, .newest_gauge = 10, .events = 0};
  EXPECT_EQ(text("a", tick, 1000), "a 1");
  EXPECT_EQ(text("a", tick, 1000 + kTickNs - 1), "a 1");
  EXPECT_EQ(text("b", tick, 1000), "b 2");
  EXPECT_EQ(text("a", tick, 1000), "a 1");
}

TEST_F(BodyCacheTest, ANewRowAnEventAndANewFileMakeANewOne) {
  EXPECT_EQ(text("a", {1, 10, 0}, 1000), "a 1");
  EXPECT_EQ(text("a", {1, 11, 0}, 1000), "a 2");
  EXPECT_EQ(text("a", {1, 11, 1}, 1000), "a 3");
  EXPECT_EQ(text("a", {2, 11, 1}, 1000), "a 4");
}

TEST_F(BodyCacheTest, WithoutNewRowsAnAnswerStillAges) {
  EXPECT_EQ(text("a", {1, 10, 0}, 1000), "a 1");
  EXPECT_EQ(text("a", {1, 10, 0}, 1000 + kTickNs), "a 2");
  EXPECT_EQ(text("a", {1, 10, 0}, 500), "a 3");  // the clock of a replay went back
}

TEST_F(BodyCacheTest, AnAnswerThatIsStillBeingSentIsNotChanged) {
  const auto sent = get("a", {1, 10, 0}, 1000);
  const auto packed = get("a", {1, 10, 0}, 1000, Encoding::kGzip);
  EXPECT_EQ(text("a", {1, 11, 0}, 1000), "a 2");
  EXPECT_EQ(*sent, "a 1");
  EXPECT_EQ(gunzip(*packed), "a 1");
  EXPECT_EQ(gunzip(*get("a", {1, 11, 0}, 1000, Encoding::kGzip)), "a 2");
}

TEST_F(BodyCacheTest, PackedOnceATick) {
  EXPECT_EQ(get("a", {1, 10, 0}, 1000, Encoding::kGzip),
            get("a", {1, 10, 0}, 1000, Encoding::kGzip));
}

TEST_F(BodyCacheTest, OfManyQuestionsTheLatestAreKept) {
  for (std::size_t key = 0; key <= BodyCache::kKept; ++key) {
    text(std::to_string(key), {1, 10, 0}, 1000);
    text("0", {1, 10, 0}, 1000);
  }
  EXPECT_EQ(text("0", {1, 10, 0}, 1000), "0 1");
  EXPECT_EQ(text("1", {1, 10, 0}, 1000), "1 10");  // was pushed out
}

}  // namespace
}  // namespace everywatt::web
