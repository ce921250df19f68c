// SPDX-License-Identifier: Apache-2.0
#include "serve/web/json.h"

#include <nlohmann/json.hpp>

namespace everywatt::web {

std::string quote_json(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace everywatt::web
