// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/library_file.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/log.h"
#include "device/nvml/abi.h"

namespace everywatt::nvml {
namespace {

constexpr const char* kSoname = "libnvidia-ml.so.1";

// Where the file lies when the linker's cache does not know it: Debian, Ubuntu and SUSE, RHEL, the
// NVIDIA GPU Operator's driver root of either, GKE, WSL.
constexpr std::array kFolders = {
#if defined(__aarch64__)
    "/usr/lib/aarch64-linux-gnu",
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
#else
    "/usr/lib/x86_64-linux-gnu",
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
#endif
    "/usr/lib64",
    "/usr/lib",
    "/run/nvidia/driver/usr/lib64",
    "/usr/local/nvidia/lib64",
    "/home/kubernetes/bin/nvidia/lib64",
    "/usr/lib/wsl/lib",
};

struct Attempt {
  void* handle = nullptr;
  std::string reason;
  bool is_denied = false;
  bool is_there = true;  // something of that name is, which says more than that nothing is
};

// What the dynamic linker leaves unsaid or says badly.
std::string reason_of_path(const std::string& path) {
  struct stat named{};
  if (::lstat(path.c_str(), &named) != 0) return std::strerror(errno);
  struct stat meant{};
  if (::stat(path.c_str(), &meant) != 0) {
    return S_ISLNK(named.st_mode) && errno == ENOENT ? "a link to a file that is not there"
                                                     : std::strerror(errno);
  }
  if (S_ISDIR(meant.st_mode)) return "a directory";
  if (::access(path.c_str(), R_OK) != 0) return std::strerror(errno);
  return {};
}

bool exports_init(void* handle) {
  for (const char* name : abi::kInit.names) {
    if (name != nullptr && ::dlsym(handle, name) != nullptr) return true;
  }
  return false;
}

// The linker's message begins with the path, which the list names already.
std::string without_path(const std::string& message, const std::string& path) {
  const std::string prefix = path + ": ";
  return message.starts_with(prefix) ? message.substr(prefix.size()) : message;
}

Attempt attempt(const std::string& path) {
  Attempt result;
  const bool is_file = path.find('/') != path.npos;
  if (is_file) {
    struct stat named{};
    result.is_there = ::lstat(path.c_str(), &named) == 0;
    result.reason = reason_of_path(path);
    result.is_denied = errno == EACCES && !result.reason.empty();
    if (!result.reason.empty()) return result;
  }
  result.handle = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (result.handle == nullptr) {
    result.reason = without_path(::dlerror(), path);
    if (!is_file) result.is_there = !result.reason.ends_with(std::strerror(ENOENT));
  } else if (!exports_init(result.handle)) {
    ::dlclose(result.handle);
    result.handle = nullptr;
    result.reason = fmt::format("no {} in it: not the driver's library", abi::kInit.names[0]);
  }
  return result;
}

std::vector<std::string> candidates(const std::string& path) {
  if (!path.empty()) return {path};
  std::vector<std::string> paths = {kSoname};
  for (const char* folder : kFolders)
    paths.push_back(fmt::format("{}/{}", folder, kSoname));
  return paths;
}

}  // namespace

base::Result<LibraryFile> load_library_file(const std::string& path) {
  std::string first_reason;
  bool is_denied = false;
  for (const std::string& candidate : candidates(path)) {
    const Attempt result = attempt(candidate);
    if (result.handle != nullptr) return LibraryFile{candidate, result.handle};
    is_denied = is_denied || result.is_denied;
    const std::string reason = fmt::format("{}: {}", candidate, result.reason);
    base::log(base::LogLevel::kDebug, "not the driver's library: " + reason);
    const bool is_worth_telling = result.is_there || !path.empty();
    if (first_reason.empty() && is_worth_telling) first_reason = reason;
  }
  if (first_reason.empty()) first_reason = fmt::format("{} is nowhere to be found", kSoname);
  return base::fail(is_denied ? base::Code::kNoPermission : base::Code::kNotFound,
                    fmt::format("no usable NVIDIA library ({})", first_reason),
                    "install the NVIDIA driver, or name its library with --nvml-library");
}

}  // namespace everywatt::nvml
