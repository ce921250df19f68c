// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace everywatt::web {

// A file of page/, part of the program.
struct PageFile {
  std::string_view path;  // "/page.css"; index.html is "/"
  std::string_view content_type;
  std::string_view bytes;
};

std::span<const PageFile> page_files();

// All that the page may do: its own script, style and pictures, and questions to where it is from.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace everywatt::web
