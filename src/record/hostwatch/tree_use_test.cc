// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/tree_use.h"

#include <gtest/gtest.h>

#include <vector>

namespace everywatt::hostwatch {
namespace {

ProcessUse use(std::uint64_t key, double cpu_seconds, double ended_seconds,
               std::uint64_t read_bytes) {
  return {.key = key,
          .cpu_seconds = cpu_seconds,
          .ended_children_seconds = ended_seconds,
          .read_bytes = read_bytes,
          .written_bytes = 0};
}

TEST(TreeUse, StartsWithAllThatWasUsedSoFar) {
  TreeUse tree;
  tree.advance(use(1, 10, 4, 100), std::vector{use(2, 3, 1, 50)});
  EXPECT_EQ(tree.main_cpu_seconds(), 10);
  EXPECT_EQ(tree.children_cpu_seconds(), 8);
  EXPECT_EQ(tree.main_read_bytes(), 100u);
  EXPECT_EQ(tree.children_read_bytes(), 50u);
}

TEST(TreeUse, KeepsWhatAChildUsedThatItsParentWaitedFor) {
  TreeUse tree;
  tree.advance(use(1, 10, 0, 100), std::vector{use(2, 5, 0, 1000)});
  // It used half a second more before its end, all of which its parent inherited.
  tree.advance(use(1, 11, 5.5, 1110), {});
  EXPECT_EQ(tree.main_cpu_seconds(), 11);
  EXPECT_EQ(tree.children_cpu_seconds(), 5.5);
  EXPECT_EQ(tree.main_read_bytes(), 110u);
  EXPECT_EQ(tree.children_read_bytes(), 1000u);
}

TEST(TreeUse, KeepsWhatAChildUsedThatNobodyWaitedFor) {
  TreeUse tree;
  tree.advance(use(1, 10, 0, 0), std::vector{use(2, 5, 0, 70), use(3, 1, 0, 5)});
  tree.advance(use(1, 10, 0, 0), std::vector{use(3, 2, 0, 6)});
  EXPECT_EQ(tree.children_cpu_seconds(), 7);
  EXPECT_EQ(tree.children_read_bytes(), 76u);
  tree.advance(use(1, 10, 0, 0), std::vector{use(3, 3, 0, 6)});
  EXPECT_EQ(tree.children_cpu_seconds(), 8);
}

TEST(TreeUse, CountsGrandchildrenOnce) {
  TreeUse tree;
  tree.advance(use(1, 0, 0, 0), std::vector{use(2, 1, 0, 10), use(3, 4, 0, 40)});
  // 3 was a child of 2.
  tree.advance(use(1, 0, 0, 0), std::vector{use(2, 1, 4, 50)});
  EXPECT_EQ(tree.children_cpu_seconds(), 5);
  EXPECT_EQ(tree.children_read_bytes(), 50u);
  // And then 2 ends as well.
  tree.advance(use(1, 0, 5, 50), {});
  EXPECT_EQ(tree.children_cpu_seconds(), 5);
  EXPECT_EQ(tree.main_read_bytes(), 0u);
  EXPECT_EQ(tree.children_read_bytes(), 50u);
}

TEST(TreeUse, GoesOnAfterBytesThatCouldNotBeRead) {
  TreeUse tree;
  tree.advance(use(1, 0, 0, 100), std::vector{use(2, 0, 0, 50)});
  ProcessUse unread = use(1, 0, 0, 0);
  unread.read_bytes = std::nullopt;
  ProcessUse unread_child = use(2, 0, 0, 0);
  unread_child.read_bytes = std::nullopt;
  tree.advance(unread, std::vector{unread_child});
  EXPECT_EQ(tree.main_read_bytes(), 100u);
  tree.advance(use(1, 0, 0, 110), std::vector{use(2, 0, 0, 55)});
  EXPECT_EQ(tree.main_read_bytes(), 110u);
  EXPECT_EQ(tree.children_read_bytes(), 55u);
}

TEST(TreeUse, TakesAPidUsedAgainForAnotherProcess) {
  TreeUse tree;
  tree.advance(use(1, 0, 0, 0), std::vector{use(2, 5, 0, 50)});
  tree.advance(use(1, 0, 0, 0), std::vector{use(7, 1, 0, 10)});
  EXPECT_EQ(tree.children_cpu_seconds(), 6);
  EXPECT_EQ(tree.children_read_bytes(), 60u);
}

TEST(TreeUse, NeverFalls) {
  TreeUse tree;
  double cpu_seconds = 0;
  std::uint64_t read_bytes = 0;
  unsigned random = 12345;
  std::vector<ProcessUse> children;
  for (int tick = 0; tick < 1000; ++tick) {
    random = random * 1664525 + 1013904223;
    if (random % 3 == 0) children.push_back(use(random, 1 + random % 5, random % 2, random % 100));
    if (random % 7 == 0 && !children.empty()) children.erase(children.begin());
    for (ProcessUse& child : children)
      child.cpu_seconds += 0.25;
    tree.advance(use(1, tick, tick / 10, static_cast<std::uint64_t>(tick)), children);
    EXPECT_GE(tree.children_cpu_seconds(), cpu_seconds);
    EXPECT_GE(*tree.children_read_bytes(), read_bytes);
    cpu_seconds = tree.children_cpu_seconds();
    read_bytes = *tree.children_read_bytes();
  }
}

TEST(TreeUse, HasNoBytesThatCouldNotBeRead) {
  TreeUse tree;
  tree.advance({.key = 1, .cpu_seconds = 1, .read_bytes = {}, .written_bytes = {}}, {});
  EXPECT_FALSE(tree.main_read_bytes().has_value());
  EXPECT_FALSE(tree.children_written_bytes().has_value());
}

}  // namespace
}  // namespace everywatt::hostwatch
