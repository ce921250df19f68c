// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace everywatt::web {

// Lets `burst` through at once and then one each interval. Belongs to one thread.
class TokenBucket {
 public:
  TokenBucket(std::int64_t interval_ns, std::size_t burst)
      : interval_ns_(interval_ns), burst_(burst) {}

  // Nothing: it goes through. Else how long until the next one does.
  std::optional<std::int64_t> try_take(std::int64_t now_ns);
  // As if the last one had not been.
  void give_back();
  bool is_full(std::int64_t now_ns) const { return empty_until_ns_ <= now_ns; }

 private:
  std::int64_t interval_ns_;
  std::size_t burst_;
  // Counted as time: the bucket is full from this moment on, and holds less the farther it is off.
  std::int64_t empty_until_ns_ = 0;
};

// How often each client may fail to log in: ten times at once, and then once in six seconds. A
// client that does not fail is not remembered; of those that do, so many that no memory is lost to
// them. Belongs to one thread.
class LoginLimits {
 public:
  explicit LoginLimits(std::size_t most_clients = 4096) : most_clients_(most_clients) {}

  // Before a login is checked: it counts as failed until it is forgiven. Not nothing: it is not to
  // be checked, for so many nanoseconds.
  std::optional<std::int64_t> try_fail(const std::string& client, std::int64_t now_ns);
  // It was right.
  void forgive(const std::string& client, std::int64_t now_ns);
  std::size_t clients() const { return clients_.size(); }

 private:
  struct Client {
    TokenBucket bucket;
    std::list<std::string>::iterator place;
  };

  const std::size_t most_clients_;
  std::list<std::string> recent_;  // who failed last comes first
  std::unordered_map<std::string, Client> clients_;
};

}  // namespace everywatt::web
