// SPDX-License-Identifier: Apache-2.0
#include "device/host/children.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "device/host/folder.h"
#include "device/host/lines.h"

namespace everywatt::host {

void parse_children(std::string_view text, std::vector<std::uint32_t>& pids) {
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    const auto pid = base::parse_u64(word);
    if (pid && *pid > 0 && *pid <= std::numeric_limits<std::uint32_t>::max()) {
      pids.push_back(static_cast<std::uint32_t>(*pid));
    }
  }
}

std::vector<std::uint32_t> list_descendants(const Root& root, std::uint32_t pid,
                                            std::size_t limit) {
  std::vector<std::uint32_t> found;
  // `found` grows while it is walked: each process of it is asked in turn.
  std::uint32_t parent = pid;
  for (std::size_t next = 0;; ++next) {
    const std::string tasks = "/proc/" + std::to_string(parent) + "/task";
    std::vector<std::uint32_t> children;
    for (const std::string& thread : list_folder(root, tasks)) {
      const auto text = root.read(tasks + "/" + thread + "/children");
      if (text) parse_children(*text, children);
    }
    for (const std::uint32_t child : children) {
      // A pid that is used again while we look could make a circle.
      const bool is_new = child != pid && std::ranges::find(found, child) == found.end();
      if (is_new && found.size() < limit) found.push_back(child);
    }
    if (next == found.size()) break;
    parent = found[next];
  }
  return found;
}

}  // namespace everywatt::host
