// SPDX-License-Identifier: Apache-2.0
#include "app/courier_doors.h"

#include <gtest/gtest.h>

#include "serve/courier_link/door.h"
#include "serve/courier_link/link.h"

namespace everywatt::app {
namespace {

using Side = CourierDoors::Side;
constexpr std::size_t kBytes = 1000;

courier_link::Link take(const base::UniqueFd& door) {
  auto taken = courier_link::take_descriptor(door.get());
  EXPECT_TRUE(taken && *taken);
  return {*std::move(*taken), kBytes};
}

TEST(CourierDoors, ConnectWhenBothRun) {
  CourierDoors doors;
  const base::UniqueFd server = *doors.make(Side::kServer);
  doors.connect();
  EXPECT_FALSE(courier_link::take_descriptor(server.get())->has_value());
  const base::UniqueFd courier = *doors.make(Side::kCourier);
  doors.connect();
  courier_link::Link here = take(server);
  courier_link::Link there = take(courier);
  ASSERT_TRUE(here.send("hello"));
  EXPECT_EQ(there.receive()->front(), "hello");
}

TEST(CourierDoors, GiveBothANewConnectionWhenOneIsReplaced) {
  CourierDoors doors;
  const base::UniqueFd server = *doors.make(Side::kServer);
  base::UniqueFd courier = *doors.make(Side::kCourier);
  doors.connect();
  courier_link::Link old = take(server);
  // It dies before it has taken its end.
  courier.reset();
  doors.close(Side::kCourier);
  EXPECT_FALSE(old.receive());
  doors.connect();
  EXPECT_FALSE(courier_link::take_descriptor(server.get())->has_value());
  courier = *doors.make(Side::kCourier);
  doors.connect();
  courier_link::Link here = take(server);
  courier_link::Link there = take(courier);
  ASSERT_TRUE(there.send("again"));
  EXPECT_EQ(here.receive()->front(), "again");
}

}  // namespace
}  // namespace everywatt::app
