// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/web/tls_context.h"
#include "serve/web/tokens.h"
#include "serve/web/web_config.h"

namespace everywatt::web {

struct AccessFiles {
  std::string web_config = {};   // "": none
  std::string tokens_file = {};  // "": none
};

// All that decides who may ask, read once from the files.
struct Access {
  WebConfig config = {};
  Tokens tokens = {};
  std::shared_ptr<const TlsContext> tls = {};  // null: plain HTTP
  unsigned password_cost = 4;                  // the highest that a user's has

  // Whether a request must bring a password or a token.
  bool wants_login() const { return !config.users.empty() || !tokens.empty(); }
  // Whether there is any way to prove who one is.
  bool can_authenticate() const { return wants_login() || (tls && tls->verifies_all_clients()); }
};

// The errors of parse_web_config(), parse_tokens() and TlsContext::open(); a file that cannot be
// read.
base::Result<Access> read_access(const AccessFiles& files);

// The files that this was read from.
std::vector<std::string> files_of(const AccessFiles& files, const WebConfig& config);

// What changes when a file does. Equal stamps: the files are as they were.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t bytes = 0;
  std::int64_t changed_ns = 0;
  int error = 0;
  bool operator==(const FileStamp&) const = default;
};
std::vector<FileStamp> stamp_files(const std::vector<std::string>& names);

}  // namespace everywatt::web
