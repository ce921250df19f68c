// SPDX-License-Identifier: Apache-2.0
#include "app/rights_filter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>

namespace everywatt::app {
namespace {

// Made before the filter, as the server's are.
struct Sockets {
  Sockets() {
    ::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
    ::bind(listener, as_sockaddr(), sizeof(place));
    ::listen(listener, 1);
    socklen_t size = sizeof(place);
    ::getsockname(listener, as_sockaddr(), &size);
  }
  sockaddr* as_sockaddr() { return reinterpret_cast<sockaddr*>(&place); }

  int pair[2] = {-1, -1};
  int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  int fresh = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
};

// In a process of its own, for the filter stays: whether `call` is refused there.
template <typename Call>
void expect(int error_number, Call call, base::Status (*forbid)() = forbid_system_calls_of_server) {
  EXPECT_EXIT(
      {
        Sockets sockets;
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (!forbid()) ::_exit(99);
        errno = 0;
        const auto result = call(sockets);
        ::_exit(result < 0 ? errno : 0);
      },
      testing::ExitedWithCode(error_number), "");
}

class RightsFilterDeathTest : public testing::Test {
 protected:
  void SetUp() override {
#ifdef EVERYWATT_SANITIZE
    GTEST_SKIP() << "a build with a sanitizer has no filter";
#endif
  }
};

TEST_F(RightsFilterDeathTest, AnswersGoOutAndNewConnectionsDoNot) {
  expect(0, [](Sockets& s) { return ::send(s.pair[0], "x", 1, MSG_NOSIGNAL); });
  expect(0, [](Sockets& s) {
    const msghdr nothing{};
    return ::sendmsg(s.pair[0], &nothing, MSG_NOSIGNAL);
  });
  expect(EPERM, [](Sockets&) { return ::socket(AF_INET, SOCK_STREAM, 0); });
  expect(EPERM, [](Sockets& s) { return ::connect(s.fresh, s.as_sockaddr(), sizeof(s.place)); });
  expect(EPERM, [](Sockets& s) {
    return ::sendto(s.fresh, "x", 1, MSG_FASTOPEN, s.as_sockaddr(), sizeof(s.place));
  });
  expect(EPERM, [](Sockets& s) {
    return ::sendto(s.fresh, "x", 1, MSG_NOSIGNAL, s.as_sockaddr(), sizeof(s.place));
  });
  expect(EPERM, [](Sockets& s) {
    msghdr out{};
    out.msg_name = s.as_sockaddr();
    out.msg_namelen = sizeof(s.place);
    return ::sendmsg(s.fresh, &out, MSG_FASTOPEN);
  });
}

TEST_F(RightsFilterDeathTest, DescriptorsCannotSendSignalsToOthers) {
  expect(0, [](Sockets& s) { return ::fcntl(s.fresh, F_SETFL, O_NONBLOCK); });
  expect(EPERM, [](Sockets& s) { return ::fcntl(s.fresh, F_SETOWN, ::getppid()); });
  expect(EPERM, [](Sockets& s) { return ::fcntl(s.fresh, F_SETSIG, SIGKILL); });
  expect(EPERM, [](Sockets&) { return ::kill(::getppid(), 0); });
}

TEST_F(RightsFilterDeathTest, FilesAreReadAndNotWritten) {
  expect(0, [](Sockets&) { return ::open("/dev/null", O_RDONLY) < 0 ? -1 : 0; });
  expect(EPERM, [](Sockets&) { return ::open("/dev/null", O_WRONLY); });
  expect(EPERM, [](Sockets&) { return ::open("/tmp", O_RDWR | O_TMPFILE, 0600); });
  expect(EPERM, [](Sockets&) { return ::unlink("/nothing"); });
}

template <typename Call>
void expect_of_courier(int error_number, Call call) {
  expect(error_number, call, forbid_system_calls_of_courier);
}

TEST_F(RightsFilterDeathTest, TheCourierConnectsAndNobodyToIt) {
  expect_of_courier(
      0, [](Sockets& s) { return ::connect(s.fresh, s.as_sockaddr(), sizeof(s.place)); });
  expect_of_courier(0, [](Sockets&) { return ::open("/dev/null", O_WRONLY) < 0 ? -1 : 0; });
  expect_of_courier(EPERM, [](Sockets& s) { return ::listen(s.fresh, 1); });
  expect_of_courier(EPERM, [](Sockets& s) { return ::accept(s.listener, nullptr, nullptr); });
}

TEST_F(RightsFilterDeathTest, TheCourierReachesNoOtherProcess) {
  expect_of_courier(EPERM, [](Sockets&) { return ::kill(::getppid(), 0); });
  expect_of_courier(EPERM, [](Sockets&) {
    return static_cast<int>(::syscall(SYS_tgkill, ::getppid(), ::getppid(), 0));
  });
  expect_of_courier(0, [](Sockets&) {
    return static_cast<int>(::syscall(SYS_tgkill, ::getpid(), ::getpid(), 0));
  });
  expect_of_courier(
      EPERM, [](Sockets&) { return static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)); });
}

TEST_F(RightsFilterDeathTest, ACourierThatIsSomebodyElsesCodeEnds) {
  EXPECT_EXIT(
      {
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        if (!forbid_system_calls_of_courier()) ::_exit(99);
        ::execl("/bin/true", "true", nullptr);
        ::_exit(98);
      },
      testing::KilledBySignal(SIGSYS), "");
}

}  // namespace
}  // namespace everywatt::app
