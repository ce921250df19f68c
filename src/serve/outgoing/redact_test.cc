// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/redact.h"

#include <gtest/gtest.h>

namespace everywatt::outgoing {
namespace {

std::string redacted(std::string body, const HttpRequest& request) {
  HttpOutcome outcome{.body = std::move(body)};
  redact(outcome, request);
  return outcome.body;
}

TEST(Redact, TakesAddressTokenAndPasswordOutOfAnAnswer) {
  HttpRequest request{.url = Secret("https://h/hook/0123456789abcdef?key=short1&sign=a%2Bb%3D")};
  request.bearer_token = Secret("bearer-secret");
  EXPECT_EQ(redacted("no https://h/hook/0123456789abcdef?key=short1&sign=a%2Bb%3D", request),
            "no ***");
  EXPECT_EQ(redacted("POST /hook/0123456789abcdef?key=short1&sign=a%2Bb%3D", request),
            "POST /hook/***?key=***&sign=***");
  EXPECT_EQ(redacted("Bearer bearer-secret", request), "Bearer ***");
  EXPECT_EQ(redacted("hook is no secret", request), "hook is no secret");
}

TEST(Redact, TakesNameAndPasswordOutAsAHeaderHasThem) {
  HttpRequest request{.url = Secret("https://h/")};
  request.username = "user";
  request.password = Secret("password");
  // As RFC 4648 has it, with each length of the end.
  EXPECT_EQ(redacted("Basic dXNlcjpwYXNzd29yZA==", request), "Basic ***");
  request.password = Secret("passwor");
  EXPECT_EQ(redacted("Basic dXNlcjpwYXNzd29y", request), "Basic ***");
  request.password = Secret("passwo");
  EXPECT_EQ(redacted("Basic dXNlcjpwYXNzd28= passwo", request), "Basic *** ***");
}

TEST(Redact, KnowsTheLoginThatAnAddressHolds) {
  const HttpRequest request{.url = Secret("https://user:password@h:80/api/v1/write")};
  EXPECT_EQ(redacted("Basic dXNlcjpwYXNzd29yZA== password /api/v1/write", request),
            "Basic *** *** /api/v1/write");
}

TEST(Redact, AlsoWhatWentWrongOnTheWay) {
  HttpOutcome outcome{.error = "no host for token-1234"};
  redact(outcome, {.url = Secret("https://h/?t=token-1234")});
  EXPECT_EQ(outcome.error, "no host for ***");
}

TEST(Redact, WhatIsShortOrMadeOfTheMarkItselfEnds) {
  HttpRequest request{.url = Secret("https://h/?t=******")};
  EXPECT_EQ(redacted("********* a b", request), "*** a b");
  request.url = Secret("https://@h");
  EXPECT_EQ(redacted("x", request), "x");
  request.url = Secret("no address");
  EXPECT_EQ(redacted("no address", request), "***");
}

}  // namespace
}  // namespace everywatt::outgoing
