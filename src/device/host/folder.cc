// SPDX-License-Identifier: Apache-2.0
#include "device/host/folder.h"

#include <dirent.h>

#include <algorithm>
#include <memory>

namespace everywatt::host {
namespace {

constexpr std::size_t kMostNames = 65536;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

}  // namespace

std::vector<std::string> list_folder(const Root& root, std::string_view absolute) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(root.path(absolute).c_str()));
  if (!folder) return names;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && names.size() < kMostNames) names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace everywatt::host
