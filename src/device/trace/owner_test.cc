// SPDX-License-Identifier: Apache-2.0
#include "device/trace/owner.h"

#include <gtest/gtest.h>

namespace everywatt::trace {
namespace {

std::string error_of(const std::string& text) {
  const auto owner = parse_owner(text, "x.owners.json");
  return owner ? "no error" : owner.error().message;
}

TEST(Owner, TakesOverWhatTheFileSaysAndKeepsTheRest) {
  const auto owner = parse_owner(
      R"({"user": "ann", "uid": 1001, "command": ["sh"], "cgroup": "/kubepods/pod-1",
          "environment": {"K": "V"}, "runtime": "docker"})",
      "x");
  ASSERT_TRUE(owner) << owner.error().message;
  EXPECT_EQ(owner->user, "ann");
  EXPECT_EQ(owner->uid, 1001u);
  EXPECT_EQ(owner->gid, 0u);
  EXPECT_EQ(owner->command, std::vector<std::string>{"sh"});
  EXPECT_EQ(owner->cgroup, "/kubepods/pod-1");
  EXPECT_EQ(owner->environment.at("K"), "V");
  EXPECT_EQ(owner->cpu_max, "max 100000");
}

TEST(Owner, TheRootGroupIsAGroup) {
  EXPECT_EQ(error_of(R"({"cgroup": "/"})"), "no error");
}

// A player makes folders of the name, as root where it runs as root.
TEST(Owner, AGroupThatLeadsOutOfTheTreeIsRefused) {
  const std::string message = "x.owners.json: cgroup is not an absolute path without '..'";
  for (const char* path :
       {"/../../etc/cron.d", "/a/../../b", "/a/..", "/./a", "/a//b", "a", "", "/a/"}) {
    EXPECT_EQ(error_of(R"({"cgroup": ")" + std::string(path) + "\"}"), message) << path;
  }
}

TEST(Owner, WhatNoProcessHasIsRefused) {
  EXPECT_EQ(error_of(R"({"command": []})"), "x.owners.json: an empty command");
  EXPECT_EQ(error_of(R"({"working_folder": ""})"), "x.owners.json: an empty working_folder");
}

TEST(Owner, TextThatIsNoObjectIsRefused) {
  EXPECT_EQ(error_of("[]"), "x.owners.json: not a JSON object");
  EXPECT_EQ(error_of("null"), "x.owners.json: not a JSON object");
  EXPECT_NE(error_of("{"), "no error");
  EXPECT_NE(error_of(R"({"uid": "many"})"), "no error");
}

TEST(Owner, ATraceWithoutAFileHasTheDefaultOne) {
  const auto owner = read_owner("/nowhere/at/all");
  ASSERT_TRUE(owner);
  EXPECT_EQ(owner->user, "root");
}

}  // namespace
}  // namespace everywatt::trace
