// SPDX-License-Identifier: Apache-2.0
#include "app/served_access.h"

#include <filesystem>
#include <utility>

#include "app/messages.h"
#include "base/log.h"

namespace everywatt::app {
namespace {

// Absolute: the server does not stay in the folder where it was started.
std::string absolute(const std::string& name) {
  std::error_code error;
  return name.empty() ? name : std::filesystem::absolute(name, error).string();
}

web::AccessFiles access_files(const Config& config) {
  return {.web_config = absolute(config.web_config), .tokens_file = absolute(config.tokens_file)};
}

}  // namespace

base::Result<web::Scheme> check_access(const Config& config, Language language) {
  auto access = web::read_access(access_files(config));
  if (!access) {
    access.error().code = base::Code::kInvalidArgument;
    return std::unexpected(std::move(access.error()));
  }
  if (!access->can_authenticate() && !web::is_loopback(config.listen_address)) {
    base::log(base::LogLevel::kWarning,
              say(language, Message::serve_without_authentication, config.listen_address));
  }
  if (access->tls && access->config.wants_http2 == true) {
    base::log(base::LogLevel::kNotice, say(language, Message::serve_without_http2));
  }
  return access->tls ? web::Scheme::kHttps : web::Scheme::kHttp;
}

base::Status read_access_files(const Config& config) {
  const auto access = web::read_access(access_files(config));
  if (!access) return std::unexpected(access.error());
  return {};
}

base::Result<std::unique_ptr<web::Authentication>> open_authentication(const Config& config) {
  web::AccessFiles files = access_files(config);
  if (files.web_config.empty() && files.tokens_file.empty()) return nullptr;
  return web::Authentication::open({.files = std::move(files)});
}

}  // namespace everywatt::app
