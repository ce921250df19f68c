// SPDX-License-Identifier: Apache-2.0
#include "device/nvml/events.h"

#include <gtest/gtest.h>

#include "device/nvml/fake_driver.h"

namespace everywatt::nvml {
namespace {

using abi::EventRecord;
using abi::Return;
using catalog::State;

class EventSetTest : public testing::Test {
 protected:
  EventSetTest() {
    driver_.set(
        "nvmlEventSetCreate", +[](abi::EventSet* set) {
          *set = reinterpret_cast<abi::EventSet>(std::uintptr_t{1});
          return Return::kSuccess;
        });
    driver_.set("nvmlEventSetFree", +[](abi::EventSet) { return Return::kSuccess; });
  }
  void open() {
    library_ = driver_.open();
    events_.emplace(*EventSet::open(*library_, {}));
  }

  FakeDriver driver_;
  std::unique_ptr<Library> library_;
  std::optional<EventSet> events_;
};

// What the wait before _v2 fills: neither of the instances.
Return old_wait(abi::EventSet, EventRecord* record, unsigned) {
  record->device = FakeDriver::handle(0);
  record->event_type = abi::event::kXidCritical;
  record->event_data = 31;
  return Return::kSuccess;
}

TEST_F(EventSetTest, TheOldWaitKnowsOfNoInstance) {
  driver_.set("nvmlEventSetWait", old_wait);
  open();
  const auto event = events_->wait(0);
  ASSERT_TRUE(event && *event);
  EXPECT_EQ((*event)->type, EventType::kXid);
  EXPECT_EQ((*event)->number, 31u);
  EXPECT_EQ((*event)->device, FakeDriver::handle(0));
  EXPECT_EQ((*event)->gpu_instance_id, abi::kInstanceNone);
}

TEST_F(EventSetTest, AWaitThatEndsWithoutAnEventIsWell) {
  driver_.set(
      "nvmlEventSetWait_v2",
      +[](abi::EventSet, EventRecord*, unsigned) { return Return::kTimeout; });
  open();
  const auto event = events_->wait(0);
  ASSERT_TRUE(event);
  EXPECT_FALSE(*event);
}

TEST_F(EventSetTest, ALostGpuIsTheAnswerOfAWait) {
  driver_.set(
      "nvmlEventSetWait_v2",
      +[](abi::EventSet, EventRecord*, unsigned) { return Return::kGpuIsLost; });
  open();
  EXPECT_EQ(events_->wait(0).error(), State::kLost);
}

TEST_F(EventSetTest, OnlyWhatTheGpuSupportsIsRegistered) {
  static unsigned long long registered;
  registered = 0;
  driver_.set(
      "nvmlDeviceGetSupportedEventTypes", +[](abi::Device, unsigned long long* types) {
        *types = abi::event::kXidCritical | abi::event::kClock;
        return Return::kSuccess;
      });
  driver_.set(
      "nvmlDeviceRegisterEvents", +[](abi::Device, unsigned long long types, abi::EventSet) {
        registered = types;
        return Return::kSuccess;
      });
  open();
  Device device = *Device::open_nth(*library_, 0, {});
  EXPECT_EQ(events_->watch(device), State::kOk);
  EXPECT_EQ(registered, abi::event::kXidCritical);
}

TEST_F(EventSetTest, ALibraryWithoutEventsHasNone) {
  driver_.remove("nvmlEventSetCreate");
  library_ = driver_.open();
  EXPECT_EQ(EventSet::open(*library_, {}).error(), State::kNotSupported);
}

}  // namespace
}  // namespace everywatt::nvml
