// SPDX-License-Identifier: Apache-2.0
#include "read/view/events.h"

#include <gtest/gtest.h>

#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::EventKind;
using catalog::EventSource;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

void add_event(Machine& machine, unsigned part, std::int64_t time_ns, std::uint64_t kind,
               std::uint64_t code, std::uint64_t slot = 9) {
  const std::uint32_t ring_slot = machine.file().slots(Scope::kPart)[part];
  machine.add(ring_slot, Scope::kPart, Lane::kEvent, time_ns, [&](Row& row) {
    row.set(MetricId::event_kind, kind);
    row.set(MetricId::event_code, code);
    row.set(MetricId::event_device, slot);
    row.set(MetricId::event_source, std::uint64_t{1});
    row.set_text(MetricId::event_text, "it happened");
  });
}

constexpr auto kXid = static_cast<std::uint64_t>(EventKind::kXid);
constexpr auto kEcc = static_cast<std::uint64_t>(EventKind::kEcc);

std::vector<std::uint64_t> codes(const std::vector<Event>& events) {
  std::vector<std::uint64_t> found;
  for (const Event& event : events)
    found.push_back(event.code.value_or(0));
  return found;
}

TEST(Events, OfAllRingsAreInOrderOfTime) {
  Machine machine;
  add_event(machine, 1, 10 * kSecond, kXid, 31);
  add_event(machine, 2, 11 * kSecond, kXid, 32);
  add_event(machine, 1, 12 * kSecond, kEcc, 33);
  const auto events = read_events(*machine.view(), {});
  EXPECT_EQ(codes(events), (std::vector<std::uint64_t>{31, 32, 33}));
  EXPECT_EQ(events[0].kind, EventKind::kXid);
  EXPECT_EQ(events[0].kind_name(), "xid");
  EXPECT_EQ(events[0].source, EventSource::kNvml);
  EXPECT_EQ(events[0].slot, 9u);
  EXPECT_EQ(events[0].text, "it happened");
  EXPECT_EQ(events[0].pid, std::nullopt);
  EXPECT_NE(events[0].ring, events[1].ring);
}

TEST(Events, CanBeChosenByTimeDeviceAndKind) {
  Machine machine;
  add_event(machine, 1, 10 * kSecond, kXid, 1, 5);
  add_event(machine, 1, 11 * kSecond, kEcc, 2, 5);
  add_event(machine, 1, 12 * kSecond, kXid, 3, 6);
  const auto view = machine.view();
  using Codes = std::vector<std::uint64_t>;
  EXPECT_EQ(codes(read_events(*view, {.from_ns = 10 * kSecond})), (Codes{2, 3}));
  EXPECT_EQ(codes(read_events(*view, {.to_ns = 11 * kSecond})), (Codes{1, 2}));
  EXPECT_EQ(codes(read_events(*view, {.slot = 5})), (Codes{1, 2}));
  EXPECT_EQ(codes(read_events(*view, {.kinds = {EventKind::kXid}})), (Codes{1, 3}));
  EXPECT_EQ(codes(read_events(*view, {.limit = 2})), (Codes{2, 3}));
  EXPECT_EQ(codes(read_events(*machine.view(11 * kSecond), {})), (Codes{1, 2}));
}

TEST(Events, AKindOfANewerVersionIsNumbered) {
  Machine machine;
  add_event(machine, 1, 10 * kSecond, 777, 1);
  const auto events = read_events(*machine.view(), {});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kUnknown);
  EXPECT_EQ(events[0].kind_name(), "unknown(777)");
}

}  // namespace
}  // namespace everywatt::view
