// SPDX-License-Identifier: Apache-2.0
#include "serve/web/authentication.h"

namespace everywatt::web {

base::Result<std::unique_ptr<Authentication>> Authentication::open(AuthenticationOptions options) {
  if (!options.web_config.empty() || !options.tokens_file.empty()) {
    return base::fail(base::Code::kNotSupported, "no authentication yet");
  }
  return std::make_unique<Authentication>();
}

bool Authentication::is_configured() const {
  return false;
}

}  // namespace everywatt::web
