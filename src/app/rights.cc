// SPDX-License-Identifier: Apache-2.0
#include "app/rights.h"

#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace everywatt::app {
namespace {

// nobody, where the machine does not name it.
constexpr uid_t kNobody = 65534;

constexpr std::uint64_t bit(unsigned capability) {
  return std::uint64_t{1} << capability;
}

base::Status forbid_new_rights() {
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return base::fail_errno("set", "no_new_privs");
  }
  return {};
}

// Nothing brings the others back: no exec, no set-user-ID. Must come before the user is changed,
// which takes the right to do it.
void limit_capabilities(std::uint64_t kept) {
  for (unsigned capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    // A kernel that does not know the last ones says so, and has nothing to drop.
    if ((kept & bit(capability)) == 0) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
}

// Of all capabilities these alone stay.
base::Status keep_capabilities(std::uint64_t kept) {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> sets{};
  for (unsigned half = 0; half < sets.size(); ++half) {
    const auto part = static_cast<std::uint32_t>(kept >> (32 * half));
    sets[half] = {.effective = part, .permitted = part, .inheritable = 0};
  }
  if (::syscall(SYS_capset, &header, sets.data()) != 0) {
    return base::fail_errno("drop", "capabilities");
  }
  return {};
}

// As root; an ordinary user stays who it is.
base::Status become_server_user() {
  if (::geteuid() != 0) return {};
  const ServerUser user = find_server_user();
  limit_capabilities(0);
  if (::setgroups(0, nullptr) != 0 || ::setresgid(user.gid, user.gid, user.gid) != 0 ||
      ::setresuid(user.uid, user.uid, user.uid) != 0) {
    return base::fail_errno("become", "the server's user");
  }
  return keep_capabilities(0);
}

}  // namespace

ServerUser find_server_user() {
  for (const char* name : {"everywatt", "nobody"}) {
    if (const passwd* entry = ::getpwnam(name); entry != nullptr) {
      return {.uid = entry->pw_uid, .gid = entry->pw_gid};
    }
  }
  return {.uid = kNobody, .gid = kNobody};
}

base::Status drop_sampler_rights() {
  return forbid_new_rights();
}

void prefer_sampler() {
  constexpr int kNice = -10;
  ::setpriority(PRIO_PROCESS, 0, kNice);
}

base::Status drop_host_rights() {
  if (::geteuid() == 0) {
    const std::uint64_t reading = bit(CAP_SYS_PTRACE) | bit(CAP_SYSLOG) | bit(CAP_DAC_READ_SEARCH);
    limit_capabilities(reading);
    if (auto kept = keep_capabilities(reading); !kept) return kept;
  }
  return forbid_new_rights();
}

base::Status drop_server_rights() {
  if (auto become = become_server_user(); !become) return become;
  // The change of user has hidden our own /proc/self from us.
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  return forbid_new_rights();
}

void hide_memory() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  constexpr rlimit kNoCore{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &kNoCore);
}

base::Status drop_courier_rights() {
  if (auto become = become_server_user(); !become) return become;
  hide_memory();
  return forbid_new_rights();
}

}  // namespace everywatt::app
