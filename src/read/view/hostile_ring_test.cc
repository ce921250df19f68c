// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>

#include "read/view/events.h"
#include "read/view/processes.h"
#include "read/view/view.h"
#include "record/recorder/format.h"
#include "record/recorder/writer.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::Scope;

// Costs nothing to forge: every ring is as long as may be, claims to be full, and is a hole.
// Whoever walked through one would be busy for a minute.
std::unique_ptr<View> view_of_holes() {
  recorder::LayoutOptions layout{
      .devices = {{.scope = Scope::kNode}, {.scope = Scope::kPart}},
      .rings = {{.device = 0, .lane = Lane::kIdentity, .capacity = recorder::kMaxCapacity},
                {.device = 1, .lane = Lane::kEvent, .capacity = recorder::kMaxCapacity}}};
  const auto file = recorder::File::create_anonymous(layout).value();
  auto* bytes = reinterpret_cast<std::byte*>(&file->header());
  for (std::size_t i = 0; i < layout.rings.size(); ++i) {
    auto& ring = *reinterpret_cast<recorder::RingEntry*>(bytes + file->header().ring_offset +
                                                         i * file->header().ring_entry_bytes);
    ring.published = 3 * recorder::kMaxCapacity;
  }
  auto reader = recorder::Reader::adopt(base::UniqueFd(::fcntl(file->fd(), F_DUPFD_CLOEXEC, 0)),
                                        "the test's file");
  return View::adopt(std::move(*reader), nullptr, [] { return std::int64_t{1} << 60; });
}

TEST(HostileRing, EventsAreNotLookedForInHolesForEver) {
  EXPECT_TRUE(read_events(*view_of_holes(), {}).empty());
}

TEST(HostileRing, OwnersAreNotLookedForInHolesForEver) {
  const auto view = view_of_holes();
  EXPECT_EQ(find_identity(*view, 12345), std::nullopt);
  EXPECT_EQ(find_identity_of_pid(*view, 7, std::int64_t{1} << 60), std::nullopt);
}

}  // namespace
}  // namespace everywatt::view
