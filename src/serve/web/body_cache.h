// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "serve/web/gzip.h"
#include "serve/web/tick.h"

namespace everywatt::web {

// Answers that are the same for everybody, made once a tick: however many scrape, the work is that
// of one. Belongs to one thread.
class BodyCache {
 public:
  using Bytes = std::shared_ptr<const std::string>;
  // Replaces the text by the answer.
  using Make = std::function<void(std::string&)>;
  enum class Encoding : std::uint8_t { kPlain, kGzip };

  // The answer named `key`, made now unless there is one of the same tick that is younger than a
  // tick. Of different keys the kKept that were asked for last are kept.
  Bytes get(const std::string& key, const Tick& tick, std::int64_t now_ns, Encoding encoding,
            const Make& make);

  static constexpr std::size_t kKept = 8;

 private:
  struct Entry {
    std::string key;
    Tick tick = {};
    std::int64_t made_ns = 0;
    std::uint64_t asked = 0;  // when last, in calls of get()
    std::shared_ptr<std::string> plain = {};
    Bytes gzip = {};  // null: nobody has asked for it yet
  };

  Entry& find(const std::string& key);

  std::vector<Entry> entries_;
  std::uint64_t calls_ = 0;
  Gzip gzip_;
};

}  // namespace everywatt::web
