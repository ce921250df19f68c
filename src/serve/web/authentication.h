// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace everywatt::web {

struct AuthenticationOptions {
  std::string web_config = {};   // a file as Prometheus' exporter toolkit takes it; "": none
  std::string tokens_file = {};  // "": none
};

// Who may ask what. Where nothing is configured, anybody may read.
class Authentication {
 public:
  static base::Result<std::unique_ptr<Authentication>> open(AuthenticationOptions options);

  // Whether there is a way to prove who one is: then Request::who says who did.
  bool is_configured() const;
};

}  // namespace everywatt::web
