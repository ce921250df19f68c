// SPDX-License-Identifier: Apache-2.0
#include "app/courier_doors.h"

#include "base/log.h"
#include "serve/courier_link/door.h"

namespace everywatt::app {

base::Result<base::UniqueFd> CourierDoors::make(Side side) {
  auto pair = courier_link::make_door();
  if (!pair) return std::unexpected(pair.error());
  door(side) = std::move(pair->ours);
  return std::move(pair->theirs);
}

void CourierDoors::connect() {
  if (!doors_[0].is_open() || !doors_[1].is_open()) return;
  const auto link = courier_link::make_link();
  base::Status passed;
  if (!link) passed = std::unexpected(link.error());
  if (passed) passed = courier_link::pass_descriptor(doors_[0].get(), link->ours.get());
  if (passed) passed = courier_link::pass_descriptor(doors_[1].get(), link->theirs.get());
  // One of them has just ended: its successor gets a connection.
  if (!passed) base::log(base::LogLevel::kDebug, passed.error().message);
}

}  // namespace everywatt::app
