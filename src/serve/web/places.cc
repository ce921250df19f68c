// SPDX-License-Identifier: Apache-2.0
#include "serve/web/places.h"

#include <algorithm>

namespace everywatt::web {

std::optional<Places::Admission> Places::try_admit(const std::string& client) {
  Admission admission;
  if (held_.size() >= count_) {
    admission.gives_up = find_one_to_give_up(client);
    if (!admission.gives_up) return std::nullopt;
    leave(*admission.gives_up);
  }
  admission.id = ++last_id_;
  std::list<Id>& theirs = clients_[client];
  theirs.push_back(admission.id);
  held_.emplace(admission.id, Held{.client = client, .at = std::prev(theirs.end())});
  return admission;
}

std::optional<Places::Id> Places::find_one_to_give_up(const std::string& client) const {
  const auto most =
      std::ranges::max_element(clients_, {}, [](const auto& entry) { return entry.second.size(); });
  if (most == clients_.end()) return std::nullopt;
  const auto own = clients_.find(client);
  const std::size_t would_hold = own == clients_.end() ? 1 : own->second.size() + 1;
  if (would_hold >= most->second.size()) return std::nullopt;
  return most->second.front();
}

void Places::note_served(Id id) {
  const auto held = held_.find(id);
  if (held == held_.end()) return;
  std::list<Id>& theirs = clients_.at(held->second.client);
  theirs.splice(theirs.end(), theirs, held->second.at);
}

void Places::leave(Id id) {
  const auto held = held_.find(id);
  if (held == held_.end()) return;
  const auto client = clients_.find(held->second.client);
  client->second.erase(held->second.at);
  if (client->second.empty()) clients_.erase(client);
  held_.erase(held);
}

}  // namespace everywatt::web
