// SPDX-License-Identifier: Apache-2.0
#include "app/courier_needs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

#include "app/rights.h"

namespace everywatt::app {
namespace {

constexpr mode_t kSpoolMode = 0700;
constexpr mode_t kDataMode = 0750;

std::set<std::string> secret_variables(const Config& config) {
  std::set<std::string> names;
  for (const notify::ChannelOptions& channel : config.channels) {
    for (const auto* source :
         {&channel.url_source, &channel.secret, &channel.password, &channel.receiver_token}) {
      names.insert(source->env);
    }
  }
  for (const remote_write::Options& destination : config.remote_writes) {
    names.insert(destination.password.env);
    names.insert(destination.token.env);
  }
  names.erase("");
  return names;
}

}  // namespace

bool needs_courier(const Config& config) {
  return !config.channels.empty() || !config.remote_writes.empty();
}

base::Result<base::UniqueFd> open_spool_folder(const std::string& data_folder) {
  if (data_folder.empty()) {
    return base::fail(base::Code::kNotFound, "there is no home folder to keep what waits in",
                      "name a place with --data-dir");
  }
  std::error_code error;
  const std::filesystem::path folder(data_folder);
  std::filesystem::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), kDataMode) != 0 && errno != EEXIST) {
    return base::fail_errno("create", data_folder);
  }
  const std::string path = (folder / "spool").string();
  const bool is_new = ::mkdir(path.c_str(), kSpoolMode) == 0;
  if (!is_new && errno != EEXIST) return base::fail_errno("create", path);
  // By its path alone: once it is given away, a root without all capabilities may not read it.
  base::UniqueFd spool(::open(path.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!spool.is_open()) return base::fail_errno("open", path);
  const bool is_root = ::geteuid() == 0;
  const ServerUser user =
      is_root ? find_server_user() : ServerUser{.uid = ::geteuid(), .gid = ::getegid()};
  if (is_root && is_new && ::fchownat(spool.get(), "", user.uid, user.gid, AT_EMPTY_PATH) != 0) {
    return base::fail_errno("give away", path);
  }
  struct stat about{};
  if (::fstat(spool.get(), &about) != 0) return base::fail_errno("look at", path);
  if (about.st_uid != user.uid) {
    return base::fail(base::Code::kNoPermission,
                      fmt::format("{} belongs to user {}", path, about.st_uid),
                      fmt::format("run: chown -R {} {}", user.uid, path));
  }
  constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
  const std::string itself = fmt::format("/proc/self/fd/{}", spool.get());
  if ((about.st_mode & kOthers) != 0 && ::chmod(itself.c_str(), kSpoolMode) != 0) {
    return base::fail_errno("close to others", path);
  }
  return spool;
}

std::vector<std::pair<std::string, std::string>> take_secret_variables(const Config& config) {
  std::vector<std::pair<std::string, std::string>> taken;
  for (const std::string& name : secret_variables(config)) {
    char* value = std::getenv(name.c_str());
    if (value == nullptr) continue;
    taken.emplace_back(name, value);
    // What /proc/PID/environ shows is this very memory.
    ::explicit_bzero(value, std::strlen(value));
    ::unsetenv(name.c_str());
  }
  return taken;
}

}  // namespace everywatt::app
