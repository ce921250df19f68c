// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace everywatt::web {

// Whether a request that names `host` ("192.0.2.1:9400", "[::1]", "localhost", "gpu7.example:9400")
// may be answered: an IP address, localhost, or one of `names` (without port; case and a final dot
// do not matter; "*" is any name). A page from elsewhere whose name was made to lead here carries
// its own name: this is what stops it.
bool is_allowed_host(std::string_view host, std::span<const std::string> names);

}  // namespace everywatt::web
