// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/event_watch.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "device/nvml/fake_driver.h"
#include "record/sampler/lanes_fixture.h"

namespace everywatt::sampler {
namespace {

std::atomic<int> asked{0};
std::atomic<int> waited{0};

nvml::abi::Return wait(nvml::abi::EventSet, nvml::abi::EventRecord*, unsigned timeout_ms) {
  ++(timeout_ms == 0 ? asked : waited);
  return nvml::abi::Return::kTimeout;
}

class EventWatchTest : public LanesFixture {};

TEST_F(EventWatchTest, NobodyWaitsWhileAGpuHasToRegister) {
  begin(device("gemm"), 1);
  nvml::FakeDriver driver;
  driver.set(
      "nvmlEventSetCreate", +[](nvml::abi::EventSet*) { return nvml::abi::Return::kSuccess; });
  driver.set("nvmlEventSetFree", +[](nvml::abi::EventSet) { return nvml::abi::Return::kSuccess; });
  driver.set("nvmlEventSetWait_v2", wait);
  const auto library = driver.open();
  auto events = nvml::EventSet::open(*library, {});
  ASSERT_TRUE(events);
  GpuList gpus;
  GpuWatch& gpu = gpus.add(std::move(gpus_.front()));
  gpus_.clear();
  gpu.detach();
  gpu.attach(*library, &*events);
  ASSERT_TRUE(gpu.is_opening());

  asked = waited = 0;
  std::jthread thread([&](const std::stop_token& stop) { watch_events(*events, gpus, stop); });
  while (asked < 3 && waited == 0)
    std::this_thread::yield();
  EXPECT_EQ(waited, 0);
  gpu.detach();
  while (waited == 0)
    std::this_thread::yield();
}

}  // namespace
}  // namespace everywatt::sampler
