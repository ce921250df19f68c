// SPDX-License-Identifier: Apache-2.0
#include "serve/web/target.h"

#include <gtest/gtest.h>

#include <array>

namespace everywatt::web {
namespace {

TEST(Target, PathAndDecodedParametersAreTold) {
  const auto target = parse_target("/api/v1/series?metric=gpu%5fpower&gpu=GPU+1&&step");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/series");
  EXPECT_FALSE(target->host);
  ASSERT_EQ(target->parameters.size(), 3U);
  EXPECT_EQ(*target->find("metric"), "gpu_power");
  EXPECT_EQ(*target->find("gpu"), "GPU 1");
  EXPECT_EQ(*target->find("step"), "");
  EXPECT_EQ(target->find("since"), nullptr);
}

TEST(Target, AnAbsoluteTargetNamesItsHost) {
  const auto target = parse_target("http://127.0.0.1:9400/metrics?names=self");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->host, "127.0.0.1:9400");
  EXPECT_EQ(target->path, "/metrics");
  EXPECT_EQ(*target->find("names"), "self");
  EXPECT_EQ(parse_target("http://localhost")->path, "/");
  EXPECT_EQ(parse_target("HTTP://localhost/x")->path, "/x");
}

TEST(Target, WhatIsNoPathOrBadlyEncodedIsRefused) {
  for (const char* text : {"", "*", "metrics", "/x?a=%", "/x?a=%4", "/x?a=%zz", "/x?%=1"}) {
    EXPECT_FALSE(parse_target(text)) << text;
  }
}

TEST(Target, UnknownAndRepeatedParametersAreNamed) {
  constexpr std::array<std::string_view, 2> kKnown = {"metric", "gpu"};
  EXPECT_TRUE(check_parameters(*parse_target("/x?metric=a&gpu=0"), kKnown));
  EXPECT_EQ(check_parameters(*parse_target("/x?metrics=a"), kKnown).error().message,
            "no parameter 'metrics': there are metric, gpu");
  EXPECT_EQ(check_parameters(*parse_target("/x?gpu=0&gpu=1"), kKnown).error().message,
            "parameter 'gpu' is given twice");
}

}  // namespace
}  // namespace everywatt::web
