// SPDX-License-Identifier: Apache-2.0
#include "device/trace/owner.h"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::trace {
namespace {

// Takes over what the JSON has; what it has in another type is thrown by nlohmann and caught below.
template <typename T>
void take(const nlohmann::json& json, const char* key, T& target) {
  if (json.contains(key)) json.at(key).get_to(target);
}

// A path in the tree of control groups. A player makes folders of it: it must not lead out of
// there.
bool is_group(std::string_view path) {
  if (path == "/") return true;
  return path.starts_with('/') &&
         std::ranges::none_of(base::split(path.substr(1), '/'), [](std::string_view part) {
           return part.empty() || part == "." || part == "..";
         });
}

// What is wrong with an owner, or nothing.
std::string_view problem_of(const Owner& owner) {
  if (owner.command.empty()) return "an empty command";
  if (!is_group(owner.cgroup)) return "cgroup is not an absolute path without '..'";
  if (owner.working_folder.empty()) return "an empty working_folder";
  return {};
}

}  // namespace

base::Result<Owner> parse_owner(const std::string& text, const std::string& name) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    if (!json.is_object()) return base::fail(base::Code::kCorrupt, name + ": not a JSON object");
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
    if (const std::string_view problem = problem_of(owner); !problem.empty()) {
      return base::fail(base::Code::kCorrupt, name + ": " + std::string(problem));
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
