// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/time_text.h"

#include <gtest/gtest.h>

#include "serve/notify/notify_fixture.h"

namespace everywatt::notify {
namespace {

TEST(TimeText, ReadsTimesAsGoWritesThem) {
  EXPECT_EQ(parse_rfc3339("2026-12-02T06:05:07Z"), std::optional(std::optional(kStart_ns)));
  EXPECT_EQ(parse_rfc3339("2026-12-02T14:05:07.000000001+08:00"),
            std::optional(std::optional(kStart_ns + 1)));
  EXPECT_EQ(parse_rfc3339("2026-12-01T22:35:07-07:30"), std::optional(std::optional(kStart_ns)));
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z").has_value(), true);
}

TEST(TimeText, TakesTheYearOneForNoTime) {
  const auto time = parse_rfc3339("0001-01-01T00:00:00Z");
  ASSERT_TRUE(time);
  EXPECT_EQ(*time, std::nullopt);
}

TEST(TimeText, RefusesTimesThatDoNotExist) {
  for (const char* text :
       {"", "2026-12-02", "2026-12-02T06:05:07", "2026-13-02T06:05:07Z", "2026-02-29T06:05:07Z",
        "2026-12-02T24:05:07Z", "2026-12-02T06:05:07.Z", "2026-12-02T06:05:07+8:00",
        "2026-12-02T06:05:07Zx", "9999-12-02T06:05:07Z", "-026-12-02T06:05:07Z"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

TEST(TimeText, WritesTheZoneWithEachTime) {
  {
    const Zone shanghai;
    EXPECT_EQ(format_local_time(kStart_ns), "2026-12-02 14:05:07 +08:00");
    EXPECT_EQ(format_mail_date(kStart_ns), "Wed, 02 Dec 2026 14:05:07 +0800");
  }
  {
    const Zone without("UTC");
    EXPECT_EQ(format_local_time(kStart_ns), "2026-12-02 06:05:07 +00:00");
  }
  // Summer time, by a rule and so without tzdata.
  const Zone berlin("CET-1CEST,M3.5.0,M10.5.0/3");
  EXPECT_EQ(format_local_time(kStart_ns), "2026-12-02 07:05:07 +01:00");
  EXPECT_EQ(format_local_time(kStart_ns - 150 * 1440 * kMinute_ns), "2026-07-05 08:05:07 +02:00");
}

TEST(TimeText, WritesUtcWithTheDigitsThatItNeeds) {
  EXPECT_EQ(format_rfc3339(kStart_ns), "2026-12-02T06:05:07Z");
  EXPECT_EQ(format_rfc3339(kStart_ns + 250'000'000), "2026-12-02T06:05:07.25Z");
  EXPECT_EQ(format_rfc3339(-1), "1969-12-31T23:59:59.999999999Z");
}

TEST(TimeText, WritesDurationsInTwoUnits) {
  const auto english = [](std::int64_t seconds) {
    return format_duration(seconds * 1'000'000'000, Language::kEnglish);
  };
  EXPECT_EQ(english(0), "0 s");
  EXPECT_EQ(english(59), "59 s");
  EXPECT_EQ(english(60), "1 min");
  EXPECT_EQ(english(754), "12 min 34 s");
  EXPECT_EQ(english(3 * 3600 + 20 * 60), "3 h 20 min");
  EXPECT_EQ(english(2 * 86'400 + 4 * 3600), "2 d 4 h");
  EXPECT_EQ(format_duration(12 * kMinute_ns, Language::kChinese), "12 分钟");
}

}  // namespace
}  // namespace everywatt::notify
