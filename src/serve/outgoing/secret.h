// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace everywatt::outgoing {

// Text that nobody is to read: a password, a token, the address of a chat robot. It has no way to a
// stream or to fmt; who needs the text says reveal(). Overwritten before its memory is given back.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept;
  Secret& operator=(Secret other) noexcept;
  ~Secret();

  bool is_empty() const { return text_.empty(); }
  const std::string& reveal() const { return text_; }

 private:
  std::string text_;
};

// Where a secret lies: a file, or a variable of the environment. Both empty: there is none.
struct SecretSource {
  std::string file{};
  std::string env{};

  bool is_set() const { return !file.empty() || !env.empty(); }
  // Reads it anew, so that a changed file counts from the next use on: it costs one small read.
  // Blanks and line breaks around the text are dropped. A source that is not set is an empty
  // secret. kNoPermission and kNotFound name the file, the user and what to do, kInvalidArgument
  // one that is empty, larger than 64 KiB or not a line of text.
  base::Result<Secret> read() const;

  bool operator==(const SecretSource&) const = default;
};

}  // namespace everywatt::outgoing
