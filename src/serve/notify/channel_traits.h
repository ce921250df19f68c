// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "serve/notify/channel_options.h"

namespace everywatt::notify {

// What a kind of channel is like from outside. The limits are the services' own, or stay below.
struct ChannelTraits {
  ChannelType type;
  std::string_view name;
  double per_minute;          // the budget unless per_minute says another
  double highest_per_minute;  // what per_minute may say: with a burst it stays at the service's
  double burst;               // messages at once after a quiet time
  std::int64_t gap_ns;        // between two messages, whatever the budget has
};

const ChannelTraits& traits_of(ChannelType type);
std::span<const ChannelTraits> all_traits();

}  // namespace everywatt::notify
