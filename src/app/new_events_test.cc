// SPDX-License-Identifier: Apache-2.0
#include "app/new_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "read/view/view_fixture.h"

namespace everywatt::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using view::kMs;
using view::kSecond;

void add_event(view::Machine& machine, unsigned part, std::int64_t time_ns, std::uint64_t code) {
  const std::uint32_t slot = machine.file().slots(catalog::Scope::kPart)[part];
  machine.add(slot, catalog::Scope::kPart, catalog::Lane::kEvent, time_ns, [&](catalog::Row& row) {
    row.set(catalog::MetricId::event_kind, std::uint64_t{1});
    row.set(catalog::MetricId::event_code, code);
  });
}

std::vector<std::uint64_t> codes(const std::vector<view::Event>& events) {
  std::vector<std::uint64_t> found;
  for (const view::Event& event : events)
    found.push_back(event.code.value_or(0));
  return found;
}

TEST(NewEvents, AreNotThoseThatWereListedAtTheStart) {
  view::Machine machine;
  add_event(machine, 1, 9 * kSecond, 31);
  add_event(machine, 1, 10 * kSecond - 1, 32);
  const auto listed = view::read_events(*machine.view(10 * kSecond), {.from_ns = 8 * kSecond});
  ASSERT_THAT(codes(listed), ElementsAre(31, 32));
  NewEvents events(10 * kSecond, listed);
  EXPECT_THAT(codes(events.take(*machine.view(10 * kSecond))), IsEmpty());
  add_event(machine, 1, 11 * kSecond, 33);
  EXPECT_THAT(codes(events.take(*machine.view(11 * kSecond))), ElementsAre(33));
  EXPECT_THAT(codes(events.take(*machine.view(11 * kSecond))), IsEmpty());
}

TEST(NewEvents, ThatWereLateAreTold) {
  view::Machine machine;
  add_event(machine, 1, 10 * kSecond, 31);
  NewEvents events(10 * kSecond, view::read_events(*machine.view(10 * kSecond), {}));
  add_event(machine, 2, 8 * kSecond + kMs, 32);
  EXPECT_THAT(codes(events.take(*machine.view(10 * kSecond))), ElementsAre(32));
}

TEST(NewEvents, OfAFileThatTookThePlaceOfAnotherAreTold) {
  view::Machine machine;
  add_event(machine, 1, 10 * kSecond, 31);
  NewEvents events(10 * kSecond, view::read_events(*machine.view(10 * kSecond), {}));
  view::Machine next;
  add_event(next, 1, 12 * kSecond, 41);
  events.begin_file();
  EXPECT_THAT(codes(events.take(*next.view(12 * kSecond))), ElementsAre(41));
}

}  // namespace
}  // namespace everywatt::app
