// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/link.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "serve/courier_link/door.h"
#include "serve/courier_link/token_hash.h"

namespace everywatt::courier_link {
namespace {

TEST(Link, BringsFramesAcrossHoweverLargeTheyAre) {
  auto pair = *make_link();
  Link left(std::move(pair.ours), 2 * kFrameLimitBytes);
  Link right(std::move(pair.theirs), kFrameLimitBytes);
  const std::string large(kFrameLimitBytes, 'x');
  ASSERT_TRUE(left.send("first"));
  ASSERT_TRUE(left.send(large));
  EXPECT_TRUE(left.has_unsent());
  std::vector<std::string> frames;
  while (frames.size() < 2) {
    const auto received = right.receive();
    frames.insert(frames.end(), received->begin(), received->end());
    ASSERT_TRUE(left.flush());
  }
  EXPECT_EQ(frames[0], "first");
  EXPECT_EQ(frames[1], large);
  EXPECT_FALSE(left.has_unsent());
  EXPECT_EQ(left.unsent_bytes(), 0U);
  EXPECT_TRUE(right.receive()->empty());
}

TEST(Link, KeepsNoMoreThanItsBoundAndGoesOn) {
  auto pair = *make_link();
  Link left(std::move(pair.ours), 1U << 20);
  Link right(std::move(pair.theirs), 1U << 20);
  const std::string piece(400U << 10, 'x');
  unsigned taken = 0;
  while (left.send(piece))
    ++taken;
  EXPECT_GE(taken, 2U);
  EXPECT_LE(taken, 4U);
  unsigned got = 0;
  while (got < taken) {
    got += static_cast<unsigned>(right.receive()->size());
    ASSERT_TRUE(left.flush());
  }
  EXPECT_TRUE(left.send(piece));
}

TEST(Link, TellsTheEndAfterWhatCameBefore) {
  auto pair = *make_link();
  Link left(std::move(pair.ours), 1U << 20);
  {
    Link right(std::move(pair.theirs), 1U << 20);
    ASSERT_TRUE(right.send("last words"));
  }
  EXPECT_EQ(left.receive()->front(), "last words");
  EXPECT_EQ(left.receive().error().code, base::Code::kUnavailable);
  EXPECT_EQ(left.send("anybody?").error().code, base::Code::kUnavailable);
}

TEST(Door, PassesTheNewestDescriptor) {
  auto door = *make_door();
  EXPECT_FALSE(take_descriptor(door.theirs.get())->has_value());
  auto old = *make_link();
  auto newer = *make_link();
  ASSERT_TRUE(pass_descriptor(door.ours.get(), old.theirs.get()));
  ASSERT_TRUE(pass_descriptor(door.ours.get(), newer.theirs.get()));
  auto taken = *take_descriptor(door.theirs.get());
  ASSERT_TRUE(taken);
  EXPECT_NE(::fcntl(taken->get(), F_GETFD) & FD_CLOEXEC, 0);
  old.theirs.reset();
  newer.theirs.reset();
  Link left(std::move(newer.ours), 100);
  Link right(*std::move(taken), 100);
  ASSERT_TRUE(left.send("hello"));
  EXPECT_EQ(right.receive()->front(), "hello");
  Link forgotten(std::move(old.ours), 100);
  EXPECT_FALSE(forgotten.receive());
}

TEST(Door, TellsTheEndOfTheOtherSide) {
  auto door = *make_door();
  auto link = *make_link();
  door.theirs.reset();
  EXPECT_EQ(pass_descriptor(door.ours.get(), link.ours.get()).error().code,
            base::Code::kUnavailable);
  EXPECT_EQ(take_descriptor(door.ours.get()).error().code, base::Code::kUnavailable);
}

TEST(TokenHash, IsSha256) {
  EXPECT_EQ(hash_token("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_TRUE(is_same_hash(hash_token("a"), hash_token("a")));
  EXPECT_FALSE(is_same_hash(hash_token("a"), hash_token("b")));
  EXPECT_FALSE(is_same_hash(hash_token("a"), ""));
}

}  // namespace
}  // namespace everywatt::courier_link
