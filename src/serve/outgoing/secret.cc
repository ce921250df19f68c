// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/secret.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::outgoing {
namespace {

constexpr std::size_t kLimitBytes = 64u << 10;

// explicit_bzero, as the compiler may not leave it out. Also what the text has no more of.
void wipe(std::string& text) {
  if (text.capacity() > 0) ::explicit_bzero(text.data(), text.capacity());
  text.clear();
}

std::string own_user() {
  passwd entry{};
  passwd* found = nullptr;
  char buffer[1024];
  if (::getpwuid_r(::geteuid(), &entry, buffer, sizeof(buffer), &found) == 0 && found != nullptr) {
    return found->pw_name;
  }
  return fmt::format("{}", ::geteuid());
}

base::Result<Secret> judge(std::string_view text, const std::string& where) {
  const std::string_view trimmed = base::trim(text);
  if (trimmed.empty()) {
    return base::fail(base::Code::kInvalidArgument, fmt::format("{} is empty", where));
  }
  if (trimmed.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
    return base::fail(base::Code::kInvalidArgument,
                      fmt::format("{} holds more than one line", where));
  }
  return Secret(std::string(trimmed));
}

}  // namespace

Secret::Secret(Secret&& other) noexcept : text_(std::move(other.text_)) {
  wipe(other.text_);
}

Secret& Secret::operator=(Secret other) noexcept {
  text_.swap(other.text_);
  return *this;
}

Secret::~Secret() {
  wipe(text_);
}

base::Result<Secret> SecretSource::read() const {
  if (!file.empty()) {
    auto text = base::read_file(file, kLimitBytes);
    if (!text) {
      const base::Error& error = text.error();
      if (error.code == base::Code::kNoPermission) {
        return base::fail(error.code, fmt::format("user {} may not read {}", own_user(), file),
                          fmt::format("chgrp everywatt {0} && chmod 0640 {0}", file));
      }
      if (error.code == base::Code::kNotFound) {
        return base::fail(error.code, fmt::format("{} is not there", file),
                          "write the secret into that file, readable by group everywatt alone");
      }
      return std::unexpected(error);
    }
    auto secret = judge(*text, file);
    wipe(*text);
    return secret;
  }
  if (!env.empty()) {
    const char* value = std::getenv(env.c_str());
    if (value == nullptr) {
      return base::fail(base::Code::kNotFound,
                        fmt::format("the environment has no variable {}", env),
                        "set it where everywatt serve is started, or name a file");
    }
    return judge(value, fmt::format("the variable {}", env));
  }
  return Secret();
}

}  // namespace everywatt::outgoing
