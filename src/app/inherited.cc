// SPDX-License-Identifier: Apache-2.0
#include "app/inherited.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <csignal>

namespace everywatt::app {

void fill_standard_descriptors() {
  int descriptor = ::open("/dev/null", O_RDWR);
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) {
    descriptor = ::open("/dev/null", O_RDWR);
  }
  if (descriptor >= 0) ::close(descriptor);
}

void undo_inherited_habits() {
  // Ignored, it would have the kernel forget how a child ended, and waitpid() find none.
  ::signal(SIGCHLD, SIG_DFL);
  ::umask(022);
}

}  // namespace everywatt::app
