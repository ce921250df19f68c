// SPDX-License-Identifier: Apache-2.0
#include "app/rights_filter.h"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cerrno>

#include <array>
#include <cstdint>
#include <memory>

namespace everywatt::app {
namespace {

#ifdef EVERYWATT_SANITIZE
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

// Names that an architecture does not have are not known on it and are left out.
#define CALL(name) SCMP_SYS(name)

// No mistake of ours asks for one of these: it is somebody else's code.
constexpr std::array kNever = {
    CALL(execve),
    CALL(execveat),
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(process_madvise),
    CALL(kcmp),
    CALL(mount),
    CALL(umount2),
    CALL(pivot_root),
    CALL(chroot),
    CALL(fsopen),
    CALL(fsmount),
    CALL(fsconfig),
    CALL(fspick),
    CALL(move_mount),
    CALL(open_tree),
    CALL(mount_setattr),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(userfaultfd),
    CALL(kexec_load),
    CALL(kexec_file_load),
    CALL(init_module),
    CALL(finit_module),
    CALL(delete_module),
    CALL(setns),
    CALL(unshare),
    CALL(reboot),
    CALL(swapon),
    CALL(swapoff),
    CALL(acct),
    CALL(quotactl),
    CALL(settimeofday),
    CALL(clock_settime),
    CALL(clock_adjtime),
    CALL(adjtimex),
    CALL(sethostname),
    CALL(setdomainname),
    CALL(syslog),
    CALL(open_by_handle_at),
    CALL(add_key),
    CALL(request_key),
    CALL(keyctl),
    CALL(io_uring_setup),
    CALL(io_uring_enter),
    CALL(io_uring_register),
    CALL(iopl),
    CALL(ioperm),
};

// What the server does, and what the C library needs for it. Calls whose arguments matter are
// below.
constexpr std::array kAllowed = {
    // Connections.
    CALL(accept4),
    CALL(accept),
    CALL(recvfrom),
    CALL(recvmsg),
    CALL(recvmmsg),
    CALL(shutdown),
    CALL(getsockname),
    CALL(getpeername),
    CALL(getsockopt),
    CALL(setsockopt),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_wait),
    CALL(epoll_pwait),
    CALL(epoll_pwait2),
    CALL(poll),
    CALL(ppoll),
    CALL(eventfd2),
    CALL(timerfd_create),
    CALL(timerfd_settime),
    CALL(timerfd_gettime),
    CALL(signalfd4),
    // Files, already open or opened to be read, and ways to look at them.
    CALL(read),
    CALL(readv),
    CALL(pread64),
    CALL(preadv),
    CALL(write),
    CALL(writev),
    CALL(pwrite64),
    CALL(lseek),
    CALL(close),
    CALL(fstat),
    CALL(newfstatat),
    CALL(stat),
    CALL(lstat),
    CALL(statx),
    CALL(statfs),
    CALL(fstatfs),
    CALL(access),
    CALL(faccessat),
    CALL(readlink),
    CALL(readlinkat),
    CALL(getdents64),
    CALL(getcwd),
    CALL(fsync),
    CALL(fdatasync),
    CALL(msync),
    CALL(dup),
    CALL(dup3),
    // Memory.
    CALL(brk),
    CALL(munmap),
    CALL(mremap),
    CALL(madvise),
    CALL(membarrier),
    // Threads that exist, clocks, signals that arrive.
    CALL(futex),
    CALL(set_robust_list),
    CALL(rseq),
    CALL(sched_yield),
    CALL(sched_getaffinity),
    CALL(getcpu),
    CALL(clock_gettime),
    CALL(clock_getres),
    CALL(clock_nanosleep),
    CALL(nanosleep),
    CALL(gettimeofday),
    CALL(time),
    CALL(rt_sigaction),
    CALL(rt_sigprocmask),
    CALL(rt_sigreturn),
    CALL(rt_sigtimedwait),
    CALL(sigaltstack),
    CALL(restart_syscall),
    CALL(exit),
    CALL(exit_group),
    // Questions.
    CALL(getpid),
    CALL(getppid),
    CALL(gettid),
    CALL(getuid),
    CALL(geteuid),
    CALL(getgid),
    CALL(getegid),
    CALL(getrusage),
    CALL(times),
    CALL(uname),
    CALL(sysinfo),
    CALL(getrandom),
};

// What would make a door into the courier, or reach out of it for another process of its user.
constexpr std::array kNotOfCourier = {
    CALL(listen),      CALL(accept),
    CALL(accept4),     CALL(kill),
    CALL(tkill),       CALL(rt_sigqueueinfo),
    CALL(pidfd_open),  CALL(pidfd_send_signal),
    CALL(pidfd_getfd), CALL(rt_tgsigqueueinfo),
};

// With EPERM the C library would not fall back to the older call that does the same.
constexpr std::array kNotThere = {CALL(clone3), CALL(openat2), CALL(faccessat2)};

#undef CALL

// Collects the first error of a chain of calls of libseccomp, which returns negative error numbers.
class Rules {
 public:
  // `others`: what becomes of calls without a rule.
  explicit Rules(std::uint32_t others) : filter_(::seccomp_init(others), &::seccomp_release) {
    if (filter_ == nullptr) error_ = ENOMEM;
  }

  void set(scmp_filter_attr attribute, std::uint32_t value) {
    if (error_ == 0) note(::seccomp_attr_set(filter_.get(), attribute, value));
  }

  template <typename... Conditions>
  void add(std::uint32_t action, int call, Conditions... conditions) {
    if (error_ != 0) return;
    const std::array<scmp_arg_cmp, sizeof...(conditions)> all = {conditions...};
    note(::seccomp_rule_add_array(filter_.get(), action, call, all.size(), all.data()));
  }

  base::Status load() {
    if (error_ == 0) note(::seccomp_load(filter_.get()));
    if (error_ == 0) return {};
    return base::fail_errno("forbid", "system calls", error_);
  }

 private:
  void note(int result) {
    if (result < 0) error_ = -result;
  }

  std::unique_ptr<void, decltype(&::seccomp_release)> filter_;
  int error_ = 0;
};

// All threads get it, and a stray call of somebody else's code ends the process, not a thread.
void forbid_strays(Rules& rules) {
  rules.set(SCMP_FLTATR_CTL_TSYNC, 1);
  constexpr std::uint32_t kBinaryTree = 2;  // some 150 comparisons in a row otherwise
  rules.set(SCMP_FLTATR_CTL_OPTIMIZE, kBinaryTree);
  for (const int call : kNever) {
    rules.add(SCMP_ACT_KILL_PROCESS, call);
  }
}

void add_calls(Rules& rules) {
  for (const int call : kAllowed) {
    rules.add(SCMP_ACT_ALLOW, call);
  }
  for (const int call : kNotThere) {
    rules.add(SCMP_ACT_ERRNO(ENOSYS), call);
  }
}

void add_calls_with_arguments(Rules& rules) {
  constexpr scmp_datum_t kWriting = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(openat), SCMP_A2(SCMP_CMP_MASKED_EQ, kWriting, 0));
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(open), SCMP_A1(SCMP_CMP_MASKED_EQ, kWriting, 0));
  // Answers on connections that came in. An address, or data with the first packet of a connection,
  // would lead out of the machine without a new socket.
  constexpr scmp_datum_t kConnects = MSG_FASTOPEN;
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(sendto), SCMP_A3(SCMP_CMP_MASKED_EQ, kConnects, 0),
            SCMP_A4(SCMP_CMP_EQ, 0));
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), SCMP_A2(SCMP_CMP_MASKED_EQ, kConnects, 0));
  // Others can have the kernel send signals to other processes of the user.
  for (const int command : {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL}) {
    rules.add(SCMP_ACT_ALLOW, SCMP_SYS(fcntl),
              SCMP_A1(SCMP_CMP_EQ, static_cast<scmp_datum_t>(command)));
  }
  // How sockets are told not to block.
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, FIONBIO));
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_EQ, FIONREAD));
  // No code comes in after the start.
  constexpr scmp_datum_t kCode = PROT_EXEC;
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, kCode, 0));
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, kCode, 0));
  // abort() signals its own process.
  const auto self = static_cast<scmp_datum_t>(::getpid());
  rules.add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, self));
}

}  // namespace

base::Status forbid_system_calls_of_server() {
  if (kHasSanitizer) return {};
  Rules rules(SCMP_ACT_ERRNO(EPERM));
  forbid_strays(rules);
  add_calls(rules);
  add_calls_with_arguments(rules);
  return rules.load();
}

base::Status forbid_system_calls_of_courier() {
  if (kHasSanitizer) return {};
  Rules rules(SCMP_ACT_ALLOW);
  forbid_strays(rules);
  for (const int call : kNotOfCourier) {
    rules.add(SCMP_ACT_ERRNO(EPERM), call);
  }
  // abort() signals its own process.
  const auto self = static_cast<scmp_datum_t>(::getpid());
  rules.add(SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_NE, self));
  return rules.load();
}

}  // namespace everywatt::app
