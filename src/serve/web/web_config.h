// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "serve/web/message.h"
#include "serve/web/tls_config.h"

// The web configuration file of Prometheus' exporter toolkit, as it is written for Prometheus, its
// exporters and Alertmanager.
namespace everywatt::web {

// Of all requests together.
struct RateLimit {
  std::int64_t interval_ns = 0;
  std::size_t burst = 0;
};

struct WebConfig {
  std::optional<TlsConfig> tls = {};  // nothing: plain HTTP
  std::vector<HeaderField> headers = {};
  std::optional<RateLimit> rate_limit = {};
  std::map<std::string, std::string, std::less<>> users = {};  // name -> bcrypt hash
  std::optional<bool> wants_http2 = {};  // accepted; what is spoken is HTTP/1.1
};

// `name` is the file's: it stands in what is said, and relative names of files are relative to its
// folder. kInvalidArgument: "NAME:LINE: what is wrong", the first fault of the file. No secret of
// the file is ever in a message.
base::Result<WebConfig> parse_web_config(std::string_view text, const std::string& name);

}  // namespace everywatt::web
