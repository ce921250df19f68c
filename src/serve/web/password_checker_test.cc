// SPDX-License-Identifier: Apache-2.0
#include "serve/web/password_checker.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

namespace everywatt::web {
namespace {

// U*U*U, the published test vector at cost 5.
constexpr const char* kHash = "$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a";

class PasswordCheckerTest : public testing::Test {
 protected:
  bool ask(const std::string& password, const std::string& client = "a") {
    return checker_->try_ask(cache_.key_of({password}), client,
                             {.password = password, .hash = kHash, .cost = 5},
                             [this](bool is_right) { answers_.push_back(is_right); });
  }
  void work() {
    thread_ = std::jthread([this](const std::stop_token& stop) { checker_->run(stop); });
  }
  void deliver_until(std::size_t count) {
    while (answers_.size() < count) {
      pollfd ready{.fd = checker_->descriptor(), .events = POLLIN, .revents = 0};
      ASSERT_EQ(::poll(&ready, 1, 10'000), 1);
      checker_->deliver();
    }
  }

  LoginCache cache_;
  std::unique_ptr<PasswordChecker> checker_ = *PasswordChecker::open();
  std::vector<bool> answers_;
  std::jthread thread_;
};

TEST_F(PasswordCheckerTest, AnswersInOrder) {
  EXPECT_TRUE(ask("wrong"));
  EXPECT_TRUE(ask("U*U*U"));
  work();
  deliver_until(2);
  EXPECT_EQ(answers_, (std::vector<bool>{false, true}));
}

TEST_F(PasswordCheckerTest, ComputesWhatIsEqualOnce) {
  for (int asked = 0; asked < 100; ++asked)
    EXPECT_TRUE(ask("U*U*U", std::to_string(asked)));
  work();
  deliver_until(1);  // all that were asked for are answered together
  EXPECT_EQ(answers_, std::vector<bool>(100, true));
}

TEST_F(PasswordCheckerTest, HasAFewPlacesForEachClient) {
  for (int asked = 0; asked < 4; ++asked)
    EXPECT_TRUE(ask(std::to_string(asked)));
  EXPECT_FALSE(ask("another"));
  EXPECT_TRUE(ask("1")) << "is computed anyway";
  EXPECT_TRUE(ask("U*U*U", "b"));
  work();
  deliver_until(6);
  EXPECT_EQ(answers_, (std::vector<bool>{false, false, false, false, false, true}));
  EXPECT_TRUE(ask("another"));
}

TEST_F(PasswordCheckerTest, HasSoManyPlacesForAll) {
  for (int asked = 0; asked < 64; ++asked)
    EXPECT_TRUE(ask(std::to_string(asked), std::to_string(asked)));
  EXPECT_FALSE(ask("another", "z"));
}

TEST_F(PasswordCheckerTest, EndsWhileQuestionsWait) {
  for (int asked = 0; asked < 4; ++asked)
    EXPECT_TRUE(ask(std::to_string(asked)));
  work();
  thread_.request_stop();
  thread_.join();
  EXPECT_TRUE(answers_.empty());
}

}  // namespace
}  // namespace everywatt::web
