// SPDX-License-Identifier: Apache-2.0
#include "device/host/children.h"

#include <algorithm>
#include <limits>
#include <map>

#include "base/text.h"
#include "device/host/folder.h"
#include "device/host/lines.h"
#include "device/host/process_line.h"

namespace everywatt::host {

void parse_children(std::string_view text, std::vector<std::uint32_t>& pids) {
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text)) {
    const auto pid = base::parse_u64(word);
    if (pid && *pid > 0 && *pid <= std::numeric_limits<std::uint32_t>::max()) {
      pids.push_back(static_cast<std::uint32_t>(*pid));
    }
  }
}

namespace {

// Children by parent, from each process's own line: for kernels that keep no lists of children.
std::multimap<std::uint32_t, std::uint32_t> read_parents(const Root& root) {
  std::multimap<std::uint32_t, std::uint32_t> children;
  for (const std::string& name : list_folder(root, "/proc")) {
    if (!base::parse_u64(name)) continue;
    const auto text = root.read("/proc/" + name + "/stat");
    const auto line = text ? parse_process_line(*text)
                           : base::Result<ProcessLine>(base::fail(base::Code::kNotFound, name));
    if (line) children.emplace(line->parent, line->pid);
  }
  return children;
}

// What each thread of `pid` says about the children that it made.
std::vector<std::uint32_t> read_children(const Root& root, std::uint32_t pid) {
  std::vector<std::uint32_t> children;
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const std::string& thread : list_folder(root, tasks)) {
    const auto text = root.read(tasks + "/" + thread + "/children");
    if (text) parse_children(*text, children);
  }
  return children;
}

}  // namespace

std::vector<std::uint32_t> list_descendants(const Root& root, std::uint32_t pid,
                                            std::size_t limit) {
  const std::string number = std::to_string(pid);
  const bool has_lists = root.read("/proc/" + number + "/task/" + number + "/children").has_value();
  const auto parents =
      has_lists ? std::multimap<std::uint32_t, std::uint32_t>() : read_parents(root);
  std::vector<std::uint32_t> found;
  // `found` grows while it is walked: each process of it is asked in turn.
  std::uint32_t parent = pid;
  for (std::size_t next = 0;; ++next) {
    std::vector<std::uint32_t> children;
    if (has_lists) {
      children = read_children(root, parent);
    } else {
      const auto [first, last] = parents.equal_range(parent);
      for (auto it = first; it != last; ++it)
        children.push_back(it->second);
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
