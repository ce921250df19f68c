// SPDX-License-Identifier: Apache-2.0
#include "device/sim/library_link.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "device/sim/machine_state.h"

namespace everywatt::sim {

base::Result<LibraryLink> LibraryLink::open(const std::string& path, const std::string& library,
                                            const Scenario& scenario) {
  const bool may_be_absent = std::any_of(scenario.libraries.begin(), scenario.libraries.end(),
                                         [](const LibraryEntry& entry) { return entry.absent; });
  if (!may_be_absent) return LibraryLink("", "", scenario);
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return base::fail_errno("create", path, error.value());
  const std::string known = std::filesystem::read_symlink(path, error).string();
  return LibraryLink(path, error ? library : known, scenario);
}

base::Status LibraryLink::show(std::int64_t played_ns) const {
  if (path_.empty()) return {};
  const LibraryEntry* trouble = library_trouble(*scenario_, played_ns);
  const bool is_absent = trouble && trouble->absent;
  const int failed =
      is_absent ? ::unlink(path_.c_str()) : ::symlink(library_.c_str(), path_.c_str());
  if (failed == 0 || errno == (is_absent ? ENOENT : EEXIST)) return {};
  return base::fail_errno("link", path_);
}

}  // namespace everywatt::sim
