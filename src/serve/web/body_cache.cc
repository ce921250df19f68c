// SPDX-License-Identifier: Apache-2.0
#include "serve/web/body_cache.h"

#include <algorithm>

namespace everywatt::web {

BodyCache::Bytes BodyCache::get(const std::string& key, const Tick& tick, std::int64_t now_ns,
                                Encoding encoding, const Make& make) {
  Entry& entry = find(key);
  entry.asked = ++calls_;
  const std::int64_t age_ns = now_ns - entry.made_ns;
  const bool is_fresh = entry.plain && entry.tick == tick && age_ns >= 0 && age_ns < kTickNs;
  if (!is_fresh) {
    // A text that is still on its way to a slow client is not ours to change.
    if (!entry.plain || entry.plain.use_count() > 1) entry.plain = std::make_shared<std::string>();
    make(*entry.plain);
    entry.gzip = nullptr;
    entry.tick = tick;
    entry.made_ns = now_ns;
  }
  if (encoding == Encoding::kPlain) return entry.plain;
  if (!entry.gzip) entry.gzip = std::make_shared<const std::string>(gzip_.compress(*entry.plain));
  return entry.gzip;
}

BodyCache::Entry& BodyCache::find(const std::string& key) {
  const auto known = std::ranges::find(entries_, key, &Entry::key);
  if (known != entries_.end()) return *known;
  if (entries_.size() < kKept) return entries_.emplace_back(Entry{.key = key});
  Entry& oldest = *std::ranges::min_element(entries_, {}, &Entry::asked);
  oldest = Entry{.key = key};
  return oldest;
}

}  // namespace everywatt::web
