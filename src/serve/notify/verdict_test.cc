// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/verdict.h"

#include <gtest/gtest.h>

namespace everywatt::notify {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;

struct Case {
  ChannelType type;
  int status;
  std::string body;
  VerdictKind kind;
  Reason reason;
  std::int64_t wait_s;
};

constexpr auto kDing = ChannelType::kDingTalk;
constexpr auto kWeCom = ChannelType::kWeCom;
constexpr auto kFeishu = ChannelType::kFeishu;
constexpr auto kSlack = ChannelType::kSlack;
constexpr auto kHook = ChannelType::kWebhook;
constexpr auto kOk = VerdictKind::kDelivered;
constexpr auto kAgain = VerdictKind::kRetry;
constexpr auto kNever = VerdictKind::kRefused;
constexpr auto kAny = Reason::kRequest;

const Case kCases[] = {
    {kDing, 200, R"({"errcode":0,"errmsg":"ok"})", kOk, kAny, 0},
    {kDing, 200, R"({"errcode":310000,"errmsg":"sign not match"})", kNever, Reason::kSecurity, 0},
    {kDing, 200, R"({"errcode":130101,"errmsg":"send too fast"})", kAgain, kAny, 600},
    {kDing, 200, R"({"errcode":90030,"errmsg":"quota"})", kNever, Reason::kQuota, 0},
    {kDing, 200, R"({"errcode":300001,"errmsg":"token is not exist"})", kNever, Reason::kAddress,
     0},
    {kDing, 200, R"({"errcode":460101,"errmsg":"too long"})", kNever, Reason::kSize, 0},
    {kDing, 200, R"({"errcode":-1,"errmsg":"busy"})", kAgain, kAny, 0},
    {kDing, 200, R"({"errcode":12345,"errmsg":"?"})", kNever, kAny, 0},
    {kDing, 200, "", kNever, Reason::kAnswer, 0},
    {kDing, 200, "<html>log in</html>", kNever, Reason::kAnswer, 0},
    {kDing, 200, R"({"errcode":"0"})", kNever, Reason::kAnswer, 0},
    {kDing, 200, "[0]", kNever, Reason::kAnswer, 0},
    {kDing, 502, R"({"errcode":0})", kAgain, kAny, 0},
    {kWeCom, 200, R"({"errcode":0,"errmsg":"ok"})", kOk, kAny, 0},
    {kWeCom, 200, R"({"errcode":40058,"errmsg":"too long"})", kNever, Reason::kSize, 0},
    {kWeCom, 200, R"({"errcode":93000,"errmsg":"invalid"})", kNever, Reason::kAddress, 0},
    {kWeCom, 200, R"({"errcode":45009,"errmsg":"freq"})", kAgain, kAny, 60},
    {kFeishu, 200, R"({"code":0,"msg":"success"})", kOk, kAny, 0},
    {kFeishu, 200, R"({"StatusCode":0,"StatusMessage":"success"})", kOk, kAny, 0},
    {kFeishu, 200, R"({"code":19021,"msg":"sign"})", kNever, Reason::kSecurity, 0},
    {kFeishu, 200, R"({"code":19022,"msg":"ip"})", kNever, Reason::kSecurity, 0},
    {kFeishu, 200, R"({"code":19024,"msg":"keyword"})", kNever, Reason::kSecurity, 0},
    {kFeishu, 400, R"({"code":9499,"msg":"Bad Request"})", kNever, kAny, 0},
    {kFeishu, 200, R"({"code":9499,"msg":"Bad Request"})", kNever, kAny, 0},
    {kFeishu, 200, R"({"code":11232,"msg":"rate"})", kAgain, kAny, 0},
    {kFeishu, 429, R"({"code":11232,"msg":"rate"})", kAgain, kAny, 7},
    {kSlack, 200, "ok", kOk, kAny, 0},
    {kSlack, 200, "okay", kNever, Reason::kAnswer, 0},
    {kSlack, 200, "", kNever, Reason::kAnswer, 0},
    {kSlack, 400, "invalid_payload", VerdictKind::kTryPlain, kAny, 0},
    {kSlack, 400, "invalid_blocks", VerdictKind::kTryPlain, kAny, 0},
    {kSlack, 400, "user_not_found", kNever, Reason::kAddress, 0},
    {kSlack, 400, "no_text", kNever, kAny, 0},
    {kSlack, 403, "action_prohibited", kNever, Reason::kSecurity, 0},
    {kSlack, 404, "channel_not_found", kNever, Reason::kAddress, 0},
    {kSlack, 404, "no_service", kNever, Reason::kAddress, 0},
    {kSlack, 410, "channel_is_archived", kNever, Reason::kAddress, 0},
    {kSlack, 500, "rollup_error", kAgain, kAny, 0},
    {kSlack, 429, "rate_limited", kAgain, kAny, 7},
    {kHook, 202, "", kOk, kAny, 0},
    {kHook, 302, "", kNever, Reason::kAddress, 0},
    {kHook, 400, "", kNever, kAny, 0},
    {kHook, 401, "", kNever, Reason::kSecurity, 0},
    {kHook, 408, "", kAgain, kAny, 0},
    {kHook, 413, "", kNever, Reason::kSize, 0},
    {kHook, 503, "", kAgain, kAny, 7},
};

TEST(Verdict, KnowsWhatEachAnswerMeans) {
  for (const Case& each : kCases) {
    outgoing::HttpOutcome outcome{.status = each.status, .body = each.body};
    if (each.wait_s == 7) outcome.retry_after_s = 7;
    const Verdict verdict = judge_http(each.type, outcome);
    const std::string what = std::string(type_name(each.type)) + " " + each.body;
    EXPECT_EQ(verdict.kind, each.kind) << what;
    if (each.kind == kNever) {
      EXPECT_EQ(verdict.reason, each.reason) << what;
    }
    EXPECT_EQ(verdict.wait_ns, each.wait_s * kSecond_ns) << what;
    EXPECT_FALSE(verdict.said.empty()) << what;
    EXPECT_EQ(verdict.said.find('\n'), std::string::npos);
  }
}

TEST(Verdict, TriesAgainWhereNoAnswerCame) {
  const Verdict verdict = judge_http(kDing, {.status = 0, .error = "https://h: no answer in time"});
  EXPECT_EQ(verdict.kind, kAgain);
  EXPECT_EQ(verdict.said, "https://h: no answer in time");
}

TEST(Verdict, WaitsNoLongerThanAnHourWhateverItIsTold) {
  EXPECT_EQ(judge_http(kHook, {.status = 429, .retry_after_s = 999'999}).wait_ns,
            3600 * kSecond_ns);
}

TEST(Verdict, TellsTheCauseOf310000) {
  const Verdict verdict =
      judge_http(kDing, {.status = 200, .body = R"({"errcode":310000,"errmsg":"sign not match"})"});
  EXPECT_EQ(verdict.said, "code 310000 sign not match");
  EXPECT_NE(verdict.hint.find("clock"), std::string::npos);
  EXPECT_NE(verdict.hint.find("keyword Everywatt"), std::string::npos);
}

TEST(Verdict, FollowsTheCodesOfMail) {
  EXPECT_EQ(judge_mail({.code = 250}).kind, kOk);
  EXPECT_EQ(judge_mail({.code = 0, .error = "no answer in time"}).kind, kAgain);
  EXPECT_EQ(judge_mail({.code = 421, .error = "x"}).kind, kAgain);
  EXPECT_EQ(judge_mail({.code = 451, .error = "x"}).kind, kAgain);
  const std::pair<int, Reason> kRefusals[] = {{535, Reason::kSecurity},
                                              {550, Reason::kAddress},
                                              {552, Reason::kSize},
                                              {554, Reason::kRequest}};
  for (const auto& [code, reason] : kRefusals) {
    const Verdict verdict = judge_mail({.code = code, .error = "x"});
    EXPECT_EQ(verdict.kind, kNever) << code;
    EXPECT_EQ(verdict.reason, reason) << code;
  }
}

}  // namespace
}  // namespace everywatt::notify
