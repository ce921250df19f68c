// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace everywatt::web {

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string quote_json(std::string_view text);

}  // namespace everywatt::web
