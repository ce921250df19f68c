// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace everywatt::web {

// Whether a client with this Accept-Encoding takes gzip (RFC 9110, 12.5.3).
bool accepts_gzip(std::string_view accept_encoding);

// Compresses texts one after the other, with the memory (about 256 KiB) of the first.
class Gzip {
 public:
  Gzip();
  ~Gzip();
  Gzip(Gzip&&) noexcept;
  Gzip& operator=(Gzip&&) noexcept;

  // A gzip file of `text`, without name or time: equal texts give equal bytes.
  std::string compress(std::string_view text);

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

}  // namespace everywatt::web
