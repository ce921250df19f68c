// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace everywatt::web {

// The places that there are for connections, and who holds them: so that no single client keeps
// all others out. While one is free anybody gets it. When none is, the client that holds the most
// gives up the one of theirs that was served the longest ago, to one who even with it holds fewer.
// Belongs to one thread. Costs at most a look at each client.
class Places {
 public:
  using Id = std::uint64_t;

  explicit Places(std::size_t count) : count_(count) {}

  struct Admission {
    Id id = 0;
    std::optional<Id> gives_up = {};  // has lost its place: its connection is to be closed
  };
  // `client` is any name for where a connection comes from. Nothing: no place for it.
  std::optional<Admission> try_admit(const std::string& client);
  // It was served now.
  void note_served(Id id);
  // It has gone, or gave up its place before.
  void leave(Id id);

  std::size_t taken() const { return held_.size(); }

 private:
  struct Held {
    std::string client;
    std::list<Id>::iterator at;
  };
  std::optional<Id> find_one_to_give_up(const std::string& client) const;

  const std::size_t count_;
  Id last_id_ = 0;
  std::unordered_map<Id, Held> held_;
  std::unordered_map<std::string, std::list<Id>> clients_;  // served the longest ago first
};

}  // namespace everywatt::web
