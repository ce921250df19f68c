// SPDX-License-Identifier: Apache-2.0
#include "device/host/shared_memory.h"

#include <sys/statvfs.h>

#include "device/host/lines.h"

namespace everywatt::host {
namespace {

base::Result<SharedMemory> read_folder(const std::string& folder) {
  struct statvfs use{};
  if (::statvfs(folder.c_str(), &use) != 0) return base::fail_errno("read", folder);
  return SharedMemory{.size_bytes = use.f_blocks * use.f_frsize,
                      .used_bytes = (use.f_blocks - use.f_bfree) * use.f_frsize};
}

base::Result<SharedMemory> read_with_mounts(const Root& root, const std::string& mountinfo,
                                            const std::string& folder) {
  constexpr std::size_t kMountBytes = 4u << 20;
  const auto mounts = root.read(mountinfo, kMountBytes);
  if (!mounts) return std::unexpected(mounts.error());
  if (!has_shared_memory(*mounts)) {
    return base::fail(base::Code::kNotSupported, folder + ": not mounted");
  }
  return read_folder(root.path(folder));
}

}  // namespace

bool has_shared_memory(std::string_view mountinfo) {
  bool is_in_memory = false;
  while (!mountinfo.empty()) {
    // id parent major:minor root mount-point options [tags...] - type source options
    std::string_view line = take_until(mountinfo, '\n');
    for (int i = 0; i < 4; ++i)
      take_word(line);
    if (take_word(line) != "/dev/shm") continue;
    const auto dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    std::string_view rest = line.substr(dash + 3);
    // A later mount covers an earlier one.
    is_in_memory = take_word(rest) == "tmpfs";
  }
  return is_in_memory;
}

base::Result<SharedMemory> read_shared_memory(const Root& root, std::uint32_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  return read_with_mounts(root, process + "/mountinfo", process + "/root/dev/shm");
}

base::Result<SharedMemory> read_shared_memory(const Root& root) {
  return read_with_mounts(root, "/proc/self/mountinfo", "/dev/shm");
}

}  // namespace everywatt::host
