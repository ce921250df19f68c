// SPDX-License-Identifier: Apache-2.0
#include "serve/web/access.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/file.h"
#include "serve/web/password_hash.h"

namespace everywatt::web {
namespace {

constexpr std::size_t kMostBytes = 1U << 20;

base::Result<std::string> read_named(const std::string& key, const std::string& name) {
  auto text = base::read_file(name, kMostBytes);
  if (!text) text.error().message = key + ": " + text.error().message;
  return text;
}

}  // namespace

base::Result<Access> read_access(const AccessFiles& files) {
  Access access;
  if (!files.web_config.empty()) {
    const auto text = read_named("serve.web_config", files.web_config);
    if (!text) return std::unexpected(text.error());
    auto config = parse_web_config(*text, files.web_config);
    if (!config) return std::unexpected(std::move(config.error()));
    access.config = *std::move(config);
  }
  if (!files.tokens_file.empty()) {
    const auto text = read_named("serve.tokens_file", files.tokens_file);
    if (!text) return std::unexpected(text.error());
    auto tokens = parse_tokens(*text, files.tokens_file);
    if (!tokens) return std::unexpected(std::move(tokens.error()));
    access.tokens = *std::move(tokens);
  }
  for (const auto& [user, hash] : access.config.users)
    access.password_cost = std::max(access.password_cost, cost_of(hash));
  if (access.config.tls) {
    auto tls = TlsContext::open(*access.config.tls);
    if (!tls) {
      tls.error().message = files.web_config + ": " + tls.error().message;
      return std::unexpected(std::move(tls.error()));
    }
    access.tls = *std::move(tls);
  }
  return access;
}

std::vector<std::string> files_of(const AccessFiles& files, const WebConfig& config) {
  std::vector<std::string> names = {files.web_config, files.tokens_file};
  if (config.tls) {
    names.insert(names.end(),
                 {config.tls->certificate.file, config.tls->key.file, config.tls->client_ca.file});
  }
  std::erase(names, "");
  return names;
}

std::vector<FileStamp> stamp_files(const std::vector<std::string>& names) {
  std::vector<FileStamp> stamps;
  for (const std::string& name : names) {
    struct stat found{};
    if (::stat(name.c_str(), &found) != 0) {
      stamps.push_back({.error = errno});
      continue;
    }
    // Changes of mode and owner, too: they can make a file readable.
    stamps.push_back({.device = found.st_dev,
                      .inode = found.st_ino,
                      .bytes = found.st_size,
                      .changed_ns = found.st_ctim.tv_sec * 1'000'000'000 + found.st_ctim.tv_nsec});
  }
  return stamps;
}

}  // namespace everywatt::web
