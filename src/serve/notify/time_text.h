// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "serve/notify/channel_options.h"

namespace everywatt::notify {

// RFC 3339 as Go writes it, with a fraction of any length and Z or an offset; nothing for what is
// not a time that exists. Nanoseconds since 1970: years from 1678 to 2261; Go's zero time, the year
// 1, is an empty inner optional.
std::optional<std::optional<std::int64_t>> parse_rfc3339(std::string_view text);

// UTC with as many digits of a fraction as it needs, as Alertmanager writes it.
std::string format_rfc3339(std::int64_t wall_ns);

// "2026-12-02 14:05:07 +08:00", in the machine's zone: a time without its zone misleads.
std::string format_local_time(std::int64_t wall_ns);

// The Date header of a mail, in the machine's zone.
std::string format_mail_date(std::int64_t wall_ns);

// "45 s", "12 min", "3 h 20 min", "2 d 4 h"; "45 秒", "12 分钟", ...
std::string format_duration(std::int64_t duration_ns, Language language);

}  // namespace everywatt::notify
