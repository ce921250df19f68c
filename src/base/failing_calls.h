// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "base/check.h"

// For tests: lets the n-th call of a function of the system fail, as it may at any time. Works in a
// test program that CMake gave everywatt_failing_calls(), for what its own object files call; one
// file of the program includes this. Calls of other threads than the one that armed it never fail.
namespace everywatt::base {

enum class SystemCall {
#define CALL(id, name, result, parameters, arguments, failed) id,
#include "base/failing_calls.inc"
#undef CALL
};

inline constexpr std::string_view kSystemCallNames[] = {
#define CALL(id, name, result, parameters, arguments, failed) #name,
#include "base/failing_calls.inc"
#undef CALL
};

inline std::string_view system_call_name(SystemCall call) {
  return kSystemCallNames[static_cast<unsigned>(call)];
}

// In place of an error number: reads and writes of half of what was asked for, and of nothing.
inline constexpr int kShort = -1;
inline constexpr int kEnd = -2;

// The errors with which a call may plausibly fail on a machine in trouble.
inline std::span<const int> plausible_errors(SystemCall call) {
  static constexpr int kOpening[] = {EIO, EMFILE, ENFILE, ENOMEM, EINTR, EACCES};
  static constexpr int kReading[] = {EIO, ENOMEM, EINTR, kShort, kEnd};
  static constexpr int kWriting[] = {EIO, ENOSPC, EINTR, kShort};
  static constexpr int kGrowing[] = {EIO, ENOSPC, EFBIG, EINTR};
  static constexpr int kMapping[] = {ENOMEM, EACCES, ENFILE};
  static constexpr int kNaming[] = {EIO, ENOSPC, EACCES, EINTR};
  static constexpr int kAsking[] = {EIO, ENOMEM, EACCES};
  static constexpr int kWaiting[] = {EINTR, ENOMEM};
  switch (call) {
    case SystemCall::kOpen:
    case SystemCall::kOpendir:
    case SystemCall::kDup:
    case SystemCall::kFcntl:
    case SystemCall::kMemfd:
    case SystemCall::kEventfd:
    case SystemCall::kInotify:
    case SystemCall::kPidfdOpen:
      return kOpening;
    case SystemCall::kRead:
    case SystemCall::kPread:
      return kReading;
    case SystemCall::kWrite:
    case SystemCall::kPwrite:
      return kWriting;
    case SystemCall::kFtruncate:
    case SystemCall::kFallocate:
      return kGrowing;
    case SystemCall::kMmap:
    case SystemCall::kMunmap:
      return kMapping;
    case SystemCall::kRename:
    case SystemCall::kInotifyWatch:
    case SystemCall::kFlock:
      return kNaming;
    case SystemCall::kPoll:
    case SystemCall::kPpoll:
      return kWaiting;
    default:
      return kAsking;
  }
}

// What fails, and what happened. At most one at a time.
class FailingCall {
 public:
  FailingCall(SystemCall call, unsigned nth, int error) : call_(call), left_(nth), error_(error) {
    CHECK(armed_ == nullptr);
    armed_ = this;
  }
  ~FailingCall() { armed_ = nullptr; }
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;

  bool was_hit() const { return left_ == 0; }
  // The file that the failing call was about; "" where there is none.
  const std::string& path() const { return path_; }

  // Mappings made and not undone since the program began.
  static long live_mappings() { return mappings_; }

  // What the wrapped functions ask. The error to fail with, if it is their turn.
  static std::optional<int> turn_of(SystemCall call, std::string_view path, int fd) {
    if (armed_ == nullptr || armed_->call_ != call || armed_->left_ == 0) return std::nullopt;
    if (--armed_->left_ > 0) return std::nullopt;
    armed_->path_ = path.empty() ? path_of(fd) : std::string(path);
    return armed_->error_;
  }
  static void count_mapping(long more) { mappings_ += more; }

 private:
  static std::string path_of(int fd);

  SystemCall call_;
  unsigned left_;
  int error_;
  std::string path_;
  inline static thread_local FailingCall* armed_ = nullptr;
  inline static std::atomic<long> mappings_ = 0;
};

}  // namespace everywatt::base

extern "C" {
#define CALL(id, name, result, parameters, arguments, failed) result __real_##name parameters;
#include "base/failing_calls.inc"
#undef CALL
}

namespace everywatt::base {

inline std::string FailingCall::path_of(int fd) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = fd < 0 ? -1 : __real_readlink(link.c_str(), path, sizeof path);
  return length < 0 ? std::string() : std::string(path, static_cast<std::size_t>(length));
}

namespace failing {

inline void note(SystemCall call, bool has_worked) {
  if (call == SystemCall::kMmap && has_worked) FailingCall::count_mapping(1);
  if (call == SystemCall::kMunmap && has_worked) FailingCall::count_mapping(-1);
}

// Decides for one call; `arguments` are its own, whose number of bytes a short one makes smaller.
template <typename First, typename... Rest>
bool is_failing(SystemCall call, std::tuple<First&, Rest&...> arguments) {
  std::string_view path;
  int fd = -1;
  First& first = std::get<0>(arguments);
  if constexpr (std::is_same_v<First, const char*>) path = first;
  if constexpr (std::is_same_v<First, int>) fd = first;
  if constexpr (std::is_same_v<First, long>) {
    if (first != SYS_pidfd_open) return false;
  }
  const std::optional<int> how = FailingCall::turn_of(call, path, fd);
  if (!how) return false;
  if (*how > 0) {
    errno = *how;
    return true;
  }
  if constexpr (sizeof...(Rest) >= 2) {
    auto& bytes = std::get<2>(arguments);
    if constexpr (std::is_same_v<std::remove_reference_t<decltype(bytes)>, size_t>) {
      bytes = *how == kEnd ? 0 : (bytes + 1) / 2;
    }
  }
  return false;
}

}  // namespace failing
}  // namespace everywatt::base

extern "C" {
#define CALL(id, name, result, parameters, arguments, failed)                                      \
  result __wrap_##name parameters {                                                                \
    const bool is_failing =                                                                        \
        everywatt::base::failing::is_failing(everywatt::base::SystemCall::id, std::tie arguments); \
    result answer = is_failing ? static_cast<result>(failed) : __real_##name arguments;            \
    everywatt::base::failing::note(everywatt::base::SystemCall::id, answer != failed);             \
    return answer;                                                                                 \
  }
#include "base/failing_calls.inc"
#undef CALL
}
