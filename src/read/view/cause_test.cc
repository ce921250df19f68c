// SPDX-License-Identifier: Apache-2.0
#include "read/view/cause.h"

#include <gtest/gtest.h>

#include "catalog/event.h"
#include "read/view/readiness.h"
#include "read/view/reasons.h"
#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::EventKind;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

void tell(Machine& machine, std::int64_t time_ns, EventKind kind, std::uint32_t slot,
          std::string_view text) {
  machine.add(machine.first(Scope::kPart), Scope::kPart, Lane::kEvent, time_ns, [&](Row& row) {
    row.set(MetricId::event_kind, static_cast<std::uint64_t>(kind));
    row.set(MetricId::event_device, std::uint64_t{slot});
    row.set_text(MetricId::event_text, text);
  });
}

std::string cause_of(Machine& machine, unsigned gpu) {
  const auto view = machine.view(20 * kSecond);
  return find_cause(*view, gpus(*view)[gpu]);
}

TEST(Cause, IsWhatWasToldLastOfTheGpuOrOfTheDriver) {
  Machine machine({.gpus = 2});
  const std::uint32_t node = machine.first(Scope::kNode);
  tell(machine, 8 * kSecond, EventKind::kTimedOut, machine.gpu(0), "long ago");
  tell(machine, 10 * kSecond, EventKind::kGpuLost, machine.gpu(0), "cannot be read");
  machine.file().set_status(machine.gpu(0), DeviceStatus::kFailed, 10 * kSecond);
  EXPECT_EQ(cause_of(machine, 0), "cannot be read");
  tell(machine, 11 * kSecond, EventKind::kDriverAbsent, node, "not loaded");
  tell(machine, 12 * kSecond, EventKind::kXid, machine.gpu(0), "XID 31");
  tell(machine, 13 * kSecond, EventKind::kTimedOut, machine.gpu(1), "of another one");
  EXPECT_EQ(cause_of(machine, 0), "not loaded");
}

TEST(Cause, IsNothingForAGpuThatIsReadOrWasLetGoOf) {
  Machine machine;
  tell(machine, 10 * kSecond, EventKind::kTimedOut, machine.gpu(0), "hung");
  EXPECT_EQ(cause_of(machine, 0), "");
  machine.file().set_status(machine.gpu(0), DeviceStatus::kDrained, 10 * kSecond);
  EXPECT_EQ(cause_of(machine, 0), "");
}

TEST(Cause, OldNewsAreNoCause) {
  Machine machine;
  tell(machine, 8 * kSecond, EventKind::kTimedOut, machine.gpu(0), "hung");
  machine.file().set_status(machine.gpu(0), DeviceStatus::kFailed, 10 * kSecond);
  EXPECT_EQ(cause_of(machine, 0), "");
}

TEST(Cause, IsSaidByWhyAndByReadiness) {
  Machine machine;
  tell(machine, 10 * kSecond, EventKind::kDriverAbsent, machine.first(Scope::kNode), "not loaded");
  machine.file().set_status(machine.gpu(0), DeviceStatus::kFailed, 10 * kSecond);
  const auto view = machine.view(20 * kSecond);
  EXPECT_EQ(find_not_ready(*view)[0].reason, "no good gauge reading yet: not loaded");
  EXPECT_EQ(why(*view, gpus(*view)[0], MetricId::gpu_power_watts, {}).text,
            "Nothing was recorded of it yet. The sampler has not run yet. GPU 0 is failed: the "
            "driver answers with errors, since 10.0 s ago: not loaded.");
  tell(machine, 11 * kSecond, EventKind::kGpuLost, machine.gpu(0), "It ends with a full stop.");
  machine.file().set_status(machine.gpu(0), DeviceStatus::kTimedOut, 10 * kSecond);
  EXPECT_EQ(why(*machine.view(20 * kSecond), gpus(*view)[0], MetricId::gpu_power_watts, {}).text,
            "GPU 0 is timed out: a driver call does not return, since 10.0 s ago: It ends "
            "with a full stop.");
}

}  // namespace
}  // namespace everywatt::view
