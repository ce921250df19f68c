// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/notify/notification.h"

namespace everywatt::notify {

inline constexpr std::size_t kAlertsLimit = 10'000;

// What Alertmanager's webhook posts, version 4. Each key that we know is checked; others may be
// there. Texts are cleaned, and cut with a mark where they are longer than any person reads.
// kInvalidArgument says in one line which key is wrong.
base::Result<Notification> parse_payload(std::string_view json);

// The same shape again, on one line. What a digest holds is one payload.
std::string format_payload(const Notification& notification);

}  // namespace everywatt::notify
