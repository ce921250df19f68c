// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace everywatt::trace {

// Who runs the process of a trace, as a real machine would show it.
struct Owner {
  std::string user = "root";
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::vector<std::string> command = {"python3", "train.py"};
  std::string working_folder = "/";
  // Absolute, without "." and "..": it names folders in a fake host root.
  std::string cgroup = "/user.slice/user-0.slice/session-1.scope";
  std::map<std::string, std::string> environment;
  std::uint32_t pid_in_container = 0;  // 0: no pid namespace of its own
  std::string cpu_max = "max 100000";
  std::string memory_max = "max";
};

// Reads STEM.owners.json; without such a file, the owner above. kCorrupt names the file and what is
// wrong.
base::Result<Owner> read_owner(const std::string& stem);
base::Result<Owner> parse_owner(const std::string& text, const std::string& name);

}  // namespace everywatt::trace
