// SPDX-License-Identifier: Apache-2.0
#include "serve/web/authentication.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "base/file.h"
#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// alice: "U*U*U", the published test vector at cost 5.
constexpr const char* kUsers =
    "basic_auth_users:\n  alice: $2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a\n";
constexpr const char* kAlice = "Basic YWxpY2U6VSpVKlU=";
constexpr const char* kAliceWrong = "Basic YWxpY2U6d3Jvbmc=";
constexpr const char* kNobody = "Basic Ym9iOlUqVSpV";

class AuthenticationTest : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(base::write_file_atomically(folder_.file(name), text, 0600));
  }
  base::Status open() {
    auto opened = Authentication::open({.files = files_, .clock = [this] { return now_ns_; }});
    if (!opened) return std::unexpected(opened.error());
    thread_ = {};  // ended before what it works for
    authentication_ = std::move(*opened);
    thread_ = std::jthread(
        [this](const std::stop_token& stop) { authentication_->passwords().run(stop); });
    return {};
  }
  void use_users(std::string_view text = kUsers) {
    files_.web_config = folder_.file("web.yml");
    write("web.yml", text);
  }
  void use_tokens(std::string_view text) {
    files_.tokens_file = folder_.file("tokens");
    write("tokens", text);
  }

  Request request(const std::string& authorization, const std::string& client = "10.0.0.1",
                  const std::string& path = "/metrics") {
    Request request = get(path);
    request.authorization = authorization;
    request.authorization_fields = authorization.empty() ? 0 : 1;
    request.client = client;
    return request;
  }
  // What becomes of it, once that is known.
  Judgement judge(const Request& request) {
    std::optional<Judgement> judgement;
    authentication_->judge(request, [&](Judgement made) { judgement = std::move(made); });
    deliver_until([&] { return judgement.has_value(); });
    return *judgement;
  }
  void deliver_until(const std::function<bool()>& is_enough) {
    while (!is_enough()) {
      pollfd ready{.fd = authentication_->passwords().descriptor(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&ready, 1, 10'000), 1);
      authentication_->passwords().deliver();
    }
  }
  // 200: let in and known; 0: let in as anybody; else the refusal's status.
  unsigned outcome(const Request& request) {
    const Judgement judgement = judge(request);
    if (judgement.refusal) return judgement.refusal->status;
    return judgement.who == Who::kAuthenticated ? 200 : 0;
  }
  unsigned outcome(const std::string& authorization, const std::string& client = "10.0.0.1") {
    return outcome(request(authorization, client));
  }

  std::string counts() {
    std::string text;
    exporter::Exposition out(text);
    authentication_->append_counts(out);
    out.end();
    return text;
  }

  Folder folder_;
  AccessFiles files_;
  std::int64_t now_ns_ = 1000 * kSecond;
  std::unique_ptr<Authentication> authentication_;
  std::jthread thread_;
};

TEST_F(AuthenticationTest, WithoutFilesLetsAnybodyIn) {
  ASSERT_TRUE(open());
  EXPECT_FALSE(authentication_->is_configured());
  EXPECT_EQ(outcome(""), 0U);
  EXPECT_EQ(outcome(kAlice), 0U);
}

TEST_F(AuthenticationTest, WithUsersWantsTheirPasswords) {
  use_users();
  ASSERT_TRUE(open());
  EXPECT_TRUE(authentication_->is_configured());
  const Judgement none = judge(request(""));
  ASSERT_TRUE(none.refusal);
  EXPECT_EQ(none.refusal->status, 401U);
  EXPECT_EQ(none.refusal->challenge, "Basic realm=\"everywatt\", charset=\"UTF-8\"");
  EXPECT_EQ(outcome(kAlice), 200U);
  EXPECT_EQ(outcome(kAlice), 200U);
  EXPECT_EQ(outcome(kAliceWrong), 401U);
  EXPECT_EQ(outcome(kNobody), 401U);
  EXPECT_EQ(outcome("Basic !"), 401U);
  EXPECT_EQ(outcome("Bearer token"), 401U);
  Request twice = request(kAlice);
  twice.authorization_fields = 2;
  EXPECT_EQ(outcome(twice), 401U);
}

TEST_F(AuthenticationTest, TakesTokensToo) {
  use_tokens("grafana secret-token\n");
  ASSERT_TRUE(open());
  EXPECT_TRUE(authentication_->is_configured());
  EXPECT_EQ(outcome("Bearer secret-token"), 200U);
  EXPECT_EQ(outcome("Bearer secret-tokem"), 401U);
  EXPECT_EQ(outcome("Bearer grafana"), 401U);
  const Judgement none = judge(request(""));
  EXPECT_EQ(none.refusal->challenge, "Bearer realm=\"everywatt\"");
  use_users();
  ASSERT_TRUE(open());
  EXPECT_EQ(outcome("Bearer secret-token"), 200U);
  EXPECT_EQ(outcome(kAlice), 200U);
}

TEST_F(AuthenticationTest, WhoFailsTooOftenMustWaitAndOthersNot) {
  use_users();
  use_tokens("secret-token");
  ASSERT_TRUE(open());
  EXPECT_EQ(outcome(kAlice), 200U);
  EXPECT_EQ(outcome("Bearer secret-token"), 200U);
  for (int failed = 0; failed < 5; ++failed) {
    EXPECT_EQ(outcome(kAliceWrong), 401U);
    EXPECT_EQ(outcome("Bearer wrong"), 401U);
  }
  const Judgement limited = judge(request(kAliceWrong));
  ASSERT_TRUE(limited.refusal);
  EXPECT_EQ(limited.refusal->status, 429U);
  EXPECT_EQ(limited.refusal->retry_after_s, 6U);
  EXPECT_EQ(outcome("Bearer other"), 429U);
  EXPECT_EQ(outcome(kAlice), 200U) << "has logged in before";
  EXPECT_EQ(outcome("Bearer secret-token"), 200U) << "has logged in before";
  EXPECT_EQ(outcome(kAlice, "10.0.0.2"), 200U) << "another client";
  EXPECT_EQ(outcome("Bearer secret-token", "10.0.0.2"), 200U) << "another client";
  now_ns_ += 6 * kSecond;
  EXPECT_EQ(outcome(kAliceWrong), 401U);
  EXPECT_EQ(outcome(kAliceWrong), 429U);
}

// Otherwise a client that may not guess any more would learn from it what is right.
TEST_F(AuthenticationTest, WhoMustWaitGetsNoAnswerFromWhatOthersHaveProved) {
  use_users();
  use_tokens("secret-token");
  ASSERT_TRUE(open());
  EXPECT_EQ(outcome(kAlice), 200U);
  EXPECT_EQ(outcome("Bearer secret-token"), 200U);
  for (int failed = 0; failed < 10; ++failed)
    EXPECT_EQ(outcome("Bearer wrong", "10.0.0.9"), 401U);
  EXPECT_EQ(outcome(kAlice, "10.0.0.9"), 429U);
  EXPECT_EQ(outcome("Bearer secret-token", "10.0.0.9"), 429U);
}

TEST_F(AuthenticationTest, EqualLoginsAtOnceAreJudgedTogetherAndCountOnce) {
  use_users();
  ASSERT_TRUE(open());
  int let_in = 0;
  for (int asked = 0; asked < 50; ++asked) {
    authentication_->judge(request(kAlice), [&](const Judgement& judgement) {
      EXPECT_FALSE(judgement.refusal);
      ++let_in;
    });
  }
  deliver_until([&] { return let_in == 50; });
  for (int failed = 0; failed < 10; ++failed)
    EXPECT_EQ(outcome(kAliceWrong), 401U);
  EXPECT_EQ(outcome(kAliceWrong), 429U);
}

TEST_F(AuthenticationTest, TooManyLoginsAtOnceAreBusyAndNoFailures) {
  use_users();
  ASSERT_TRUE(open());
  thread_ = {};  // nobody checks
  std::vector<unsigned> refused;
  for (int asked = 0; asked < 8; ++asked) {
    // "alice:0" ...
    std::string login = "Basic YWxpY2U6MA==";
    login[14] = static_cast<char>('A' + asked);
    authentication_->judge(request(login), [&](const Judgement& judgement) {
      refused.push_back(judgement.refusal->status);
    });
  }
  EXPECT_EQ(refused, std::vector<unsigned>(4, 503U));
}

TEST_F(AuthenticationTest, LeavesAPathWithKeysOfItsOwnToItsAnswer) {
  use_users();
  use_tokens("secret-token");
  ASSERT_TRUE(open());
  authentication_->leave_to_answer("/own/");
  EXPECT_EQ(outcome(request("", "10.0.0.1", "/own/a")), 0U);
  EXPECT_EQ(outcome(request("", "10.0.0.1", "/other")), 401U);
  EXPECT_EQ(outcome(request("", "10.0.0.1", "/metrics?x=/own/")), 401U);
  EXPECT_EQ(outcome(request("Bearer secret-token", "10.0.0.1", "/own/a")), 200U);
  EXPECT_EQ(outcome(request(kAlice, "10.0.0.1", "/own/a")), 200U);
  for (int tried = 0; tried < 20; ++tried)
    EXPECT_EQ(outcome(request("Bearer of-its-own", "10.0.0.1", "/own/a")), 0U);
  EXPECT_EQ(outcome(kAliceWrong), 401U) << "nothing of this counts as a failure";
}

TEST_F(AuthenticationTest, APasswordThatIsTakenAwayWhileItIsCheckedIsNotRightForWhoAsksAfterIt) {
  use_users();
  ASSERT_TRUE(open());
  thread_ = {};  // nobody checks yet
  std::vector<unsigned> outcomes;
  const auto ask = [&](const std::string& client) {
    authentication_->judge(request(kAlice, client), [&](const Judgement& judgement) {
      outcomes.push_back(judgement.refusal ? judgement.refusal->status : 200);
    });
  };
  ask("10.0.0.1");
  // "U*U*": alice's from now on is another one.
  write(
      "web.yml",
      "basic_auth_users:\n  alice: $2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK\n");
  now_ns_ += kSecond;
  ask("10.0.0.1");
  ask("10.0.0.2");
  thread_ =
      std::jthread([this](const std::stop_token& stop) { authentication_->passwords().run(stop); });
  deliver_until([&] { return outcomes.size() == 3; });
  EXPECT_EQ(outcomes, (std::vector<unsigned>{200, 401, 401}));
  EXPECT_EQ(outcome(kAlice, "10.0.0.2"), 401U);
}

TEST_F(AuthenticationTest, ReadsItsFilesAgainWhenTheyChange) {
  use_users();
  use_tokens("first");
  ASSERT_TRUE(open());
  EXPECT_EQ(outcome("Bearer first"), 200U);
  EXPECT_EQ(outcome(kAlice), 200U);
  write("tokens", "second");
  write("web.yml", "basic_auth_users: {}\n");
  EXPECT_EQ(outcome("Bearer first"), 200U) << "looked at once a second";
  now_ns_ += kSecond;
  EXPECT_EQ(outcome("Bearer first"), 401U);
  EXPECT_EQ(outcome("Bearer second"), 200U);
  EXPECT_EQ(outcome(kAlice), 401U);
}

TEST_F(AuthenticationTest, GoesOnWithWhatItHasWhenAFileCannotBeRead) {
  use_users();
  ASSERT_TRUE(open());
  testing::internal::CaptureStderr();
  write("web.yml", "basic_auth_users:\n  bob: plain\n");
  for (int second = 0; second < 3; ++second) {
    now_ns_ += kSecond;
    EXPECT_EQ(outcome(kAlice), 200U);
  }
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told, "everywatt: warning: " + files_.web_config +
                      ":2: the password of 'bob': not a bcrypt hash; make one with: htpasswd -nBC "
                      "10 \"\" | tr -d ':\\n'; what was read before goes on\n");
  testing::internal::CaptureStderr();
  std::filesystem::remove(files_.web_config);
  now_ns_ += kSecond;
  EXPECT_EQ(outcome(kAlice), 200U);
  write("web.yml", kUsers);
  now_ns_ += kSecond;
  EXPECT_EQ(outcome(kAlice), 200U);
  told = testing::internal::GetCapturedStderr();
  EXPECT_EQ(told, "everywatt: warning: serve.web_config: cannot open " + files_.web_config +
                      ": No such file or directory; what was read before goes on\n"
                      "everywatt: who may ask was read again\n");
}

TEST_F(AuthenticationTest, DoesNotStartWithFilesThatSayNothing) {
  files_.web_config = "/nowhere/web.yml";
  auto opened = open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::kNotFound);
  EXPECT_EQ(opened.error().message,
            "serve.web_config: cannot open /nowhere/web.yml: No such file or directory");
  use_users("basic_auth_users: 7\n");
  EXPECT_EQ(open().error().message,
            files_.web_config + ":1: 'basic_auth_users' must be a map of keys");
  use_users();
  use_tokens("# none\n");
  EXPECT_EQ(open().error().message, files_.tokens_file + ": no token in it");
}

TEST_F(AuthenticationTest, LimitsAllRequestsAsTheFileSays) {
  use_users("rate_limit: {interval: 2s, burst: 2}\n");
  ASSERT_TRUE(open());
  EXPECT_FALSE(authentication_->is_configured());
  EXPECT_EQ(outcome(""), 0U);
  EXPECT_EQ(outcome("", "10.0.0.2"), 0U);
  const Judgement limited = judge(request(""));
  ASSERT_TRUE(limited.refusal);
  EXPECT_EQ(limited.refusal->status, 429U);
  EXPECT_EQ(limited.refusal->retry_after_s, 2U);
}

TEST_F(AuthenticationTest, CountsWhatItRefuses) {
  use_users();
  ASSERT_TRUE(open());
  outcome("");
  outcome(kAliceWrong);
  outcome(kNobody);
  EXPECT_EQ(counts(),
            "# HELP everywatt_web_requests_refused_total Requests that were not let in, by why.\n"
            "# TYPE everywatt_web_requests_refused_total counter\n"
            "everywatt_web_requests_refused_total{reason=\"no_login\"} 1\n"
            "everywatt_web_requests_refused_total{reason=\"wrong_login\"} 2\n"
            "everywatt_web_requests_refused_total{reason=\"too_often\"} 0\n"
            "everywatt_web_requests_refused_total{reason=\"busy\"} 0\n");
}

}  // namespace
}  // namespace everywatt::web
