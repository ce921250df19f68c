// SPDX-License-Identifier: Apache-2.0
#include "device/trace/owner.h"

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/file.h"

namespace everywatt::trace {
namespace {

// Takes over what the JSON has; what it has in another type is thrown by nlohmann and caught below.
template <typename T>
void take(const nlohmann::json& json, const char* key, T& target) {
  if (json.contains(key)) json.at(key).get_to(target);
}

}  // namespace

base::Result<Owner> parse_owner(const std::string& text, const std::string& name) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Owner owner;
    take(json, "user", owner.user);
    take(json, "uid", owner.uid);
    take(json, "gid", owner.gid);
    take(json, "command", owner.command);
    take(json, "working_folder", owner.working_folder);
    take(json, "cgroup", owner.cgroup);
    take(json, "environment", owner.environment);
    take(json, "pid_in_container", owner.pid_in_container);
    take(json, "cpu_max", owner.cpu_max);
    take(json, "memory_max", owner.memory_max);
    if (owner.command.empty() || !owner.cgroup.starts_with('/')) {
      return base::fail(base::Code::kCorrupt, name + ": an empty command or a relative cgroup");
    }
    return owner;
  } catch (const nlohmann::json::exception& error) {
    return base::fail(base::Code::kCorrupt, name + ": " + error.what());
  }
}

base::Result<Owner> read_owner(const std::string& stem) {
  const std::string path = stem + ".owners.json";
  if (access(path.c_str(), F_OK) != 0) return Owner{};
  const base::Result<std::string> text = base::read_file(path);
  if (!text) return std::unexpected(text.error());
  return parse_owner(*text, path);
}

}  // namespace everywatt::trace
