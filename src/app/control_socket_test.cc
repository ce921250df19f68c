// SPDX-License-Identifier: Apache-2.0
#include "app/control_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "app/local_socket.h"

namespace everywatt::app {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A folder whose path no socket address can hold.
class ControlTest : public testing::Test {
 protected:
  ControlTest() {
    std::string name = (std::filesystem::temp_directory_path() / "control.XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    run_folder_ = root_ + "/" + std::string(150, 'r');
  }
  ~ControlTest() override { std::filesystem::remove_all(root_); }

  // What is answered to these bytes while the daemon looks once.
  static ControlReply exchange(ControlSocket& control, const std::string& run_folder,
                               const void* bytes, std::size_t size, const ControlSocket::Act& act) {
    const base::UniqueFd peer = connect_to(run_folder);
    EXPECT_EQ(::send(peer.get(), bytes, size, 0), static_cast<ssize_t>(size));
    control.serve(kSecond, act);
    ControlReply reply;
    EXPECT_EQ(::recv(peer.get(), &reply, sizeof(reply), MSG_DONTWAIT),
              static_cast<ssize_t>(sizeof(reply)));
    return reply;
  }
  static base::UniqueFd connect_to(const std::string& run_folder) {
    const base::UniqueFd folder(
        ::open(control_folder(run_folder).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    base::UniqueFd peer(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const LocalAddress address = local_address(folder, kControlName);
    EXPECT_EQ(::connect(peer.get(), address.get(), LocalAddress::kSize), 0);
    return peer;
  }

  std::string root_;
  std::string run_folder_;
  std::vector<ControlVerb> done_;
  ControlSocket::Act act_ = [this](ControlVerb verb) {
    done_.push_back(verb);
    return make_reply(ControlStatus::kDone, "well");
  };
};

TEST_F(ControlTest, IsInAFolderThatNobodyElseMayEnter) {
  const auto control = ControlSocket::open(run_folder_);
  ASSERT_TRUE(control);
  struct stat about{};
  ASSERT_EQ(::stat(control_folder(run_folder_).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0700u);
  EXPECT_EQ(control_folder("/run/everywatt"), "/run/everywatt-control");
  EXPECT_EQ(control_folder("/run/everywatt/"), "/run/everywatt-control");
}

TEST_F(ControlTest, CarriesOutAnOrderAndSaysHowItWent) {
  auto control = ControlSocket::open(run_folder_);
  ASSERT_TRUE(control);
  std::jthread daemon([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> waited;
      control->add_to(waited);
      ::poll(waited.data(), waited.size(), 10);
      control->serve(kSecond, act_);
    }
  });
  const auto answer = ask_daemon(run_folder_, ControlVerb::kDrain);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, ControlStatus::kDone);
  EXPECT_EQ(answer->text, "well");
  EXPECT_TRUE(ask_daemon(run_folder_, ControlVerb::kResume));
  daemon.request_stop();
  daemon.join();
  EXPECT_EQ(done_, (std::vector{ControlVerb::kDrain, ControlVerb::kResume}));
}

TEST_F(ControlTest, TakesNothingElseForAnOrder) {
  auto control = ControlSocket::open(run_folder_);
  ASSERT_TRUE(control);
  const auto status_of = [&](const void* bytes, std::size_t size) {
    return static_cast<ControlStatus>(exchange(*control, run_folder_, bytes, size, act_).status);
  };
  const ControlRequest other_magic{.magic = 1, .verb = 1};
  const ControlRequest other_version{.version = 2, .verb = 1};
  const ControlRequest other_verb{.verb = 77};
  const std::array<char, 17> longer{};
  EXPECT_EQ(status_of(&other_magic, sizeof(other_magic)), ControlStatus::kRefused);
  EXPECT_EQ(status_of(&other_version, sizeof(other_version)), ControlStatus::kRefused);
  EXPECT_EQ(status_of(&other_verb, sizeof(other_verb)), ControlStatus::kRefused);
  EXPECT_EQ(status_of(longer.data(), longer.size()), ControlStatus::kRefused);
  EXPECT_EQ(status_of(longer.data(), 3), ControlStatus::kRefused);
  EXPECT_TRUE(done_.empty());
}

TEST_F(ControlTest, LetsGoOfWhoSaysNothing) {
  auto control = ControlSocket::open(run_folder_);
  ASSERT_TRUE(control);
  std::vector<base::UniqueFd> silent;
  for (int i = 0; i < 8; ++i) {
    silent.push_back(connect_to(run_folder_));
  }
  control->serve(kSecond, act_);
  std::vector<pollfd> waited;
  control->add_to(waited);
  EXPECT_EQ(waited.size(), 9u);
  control->serve(7 * kSecond, act_);
  waited.clear();
  control->add_to(waited);
  EXPECT_EQ(waited.size(), 1u);
  const ControlRequest drain{.verb = 1};
  EXPECT_EQ(exchange(*control, run_folder_, &drain, sizeof(drain), act_).status, 0u);
}

TEST_F(ControlTest, IsGoneWithItsDaemonAndSaysSo) {
  ASSERT_TRUE(ControlSocket::open(run_folder_).has_value());
  EXPECT_FALSE(std::filesystem::exists(control_folder(run_folder_)));
  const auto answer = ask_daemon(run_folder_, ControlVerb::kDrain);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, base::Code::kUnavailable);
}

TEST_F(ControlTest, TakesThePlaceOfOneThatWasKilled) {
  std::filesystem::create_directory(control_folder(run_folder_));
  const base::UniqueFd folder(::open(control_folder(run_folder_).c_str(), O_PATH | O_DIRECTORY));
  ASSERT_TRUE(bind_local(folder, std::string(kControlName), SOCK_SEQPACKET, 0600));
  EXPECT_TRUE(ControlSocket::open(run_folder_));
}

TEST_F(ControlTest, IsNoLinkAndNoFile) {
  std::filesystem::create_directory(root_ + "/elsewhere");
  std::filesystem::create_symlink(root_ + "/elsewhere", control_folder(run_folder_));
  EXPECT_FALSE(ControlSocket::open(run_folder_));
}

TEST(ControlReply, IsCutAndCleaned) {
  const ControlReply reply =
      make_reply(ControlStatus::kFailed, "a\x1b[31m" + std::string(500, 'x'));
  EXPECT_EQ(reply.text.back(), '\0');
  EXPECT_EQ(std::string(reply.text.data()).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace everywatt::app
