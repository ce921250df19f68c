// SPDX-License-Identifier: Apache-2.0
#include "app/inherited.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

namespace everywatt::app {
namespace {

TEST(InheritedDeathTest, ClosedStandardDescriptorsAreFilled) {
  EXPECT_EXIT(
      {
        for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor)
          ::close(descriptor);
        fill_standard_descriptors();
        struct stat about{};
        int filled = 0;
        while (filled <= STDERR_FILENO && ::fstat(filled, &about) == 0 && S_ISCHR(about.st_mode))
          ++filled;
        ::_exit(filled);
      },
      testing::ExitedWithCode(3), "");
}

TEST(InheritedDeathTest, OpenStandardDescriptorsStay) {
  EXPECT_EXIT(
      {
        int ends[2];
        if (::pipe(ends) != 0 || ::dup2(ends[1], STDOUT_FILENO) < 0) ::_exit(99);
        const int next = ::dup(0);
        ::close(next);
        fill_standard_descriptors();
        char read = 0;
        const bool is_kept = ::write(STDOUT_FILENO, "x", 1) == 1 && ::read(ends[0], &read, 1) == 1;
        ::_exit(is_kept && ::dup(0) == next ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST(InheritedDeathTest, ChildrenThatEndAreToldAndFilesHaveTheirModes) {
  EXPECT_EXIT(
      {
        ::signal(SIGCHLD, SIG_IGN);
        ::umask(077);
        undo_inherited_habits();
        const pid_t child = ::fork();
        if (child == 0) ::_exit(7);
        int status = 0;
        const bool is_told = ::waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7;
        ::_exit(is_told && ::umask(0) == 022 ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace everywatt::app
