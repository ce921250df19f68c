// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gmock/gmock.h>

namespace everywatt::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(TextTest, TrimTakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("   "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(TextTest, SplitKeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

TEST(TextTest, SplitWordsHasNoEmptyParts) {
  EXPECT_THAT(split_words("  cpu  10\t20\n"), ElementsAre("cpu", "10", "20"));
  EXPECT_THAT(split_words(" \t"), IsEmpty());
}

TEST(TextTest, ToLowerChangesAsciiLettersOnly) {
  EXPECT_EQ(to_lower("GPU_Ä显9"), "gpu_Ä显9");
}

TEST(ParseTest, ANumberIsTheWholeTextOrNothing) {
  EXPECT_EQ(parse_u64("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", " 1", "1 ", "-1", "+1", "0x1", "18446744073709551616", "1.0"}) {
    EXPECT_FALSE(parse_u64(text)) << text;
  }
  EXPECT_EQ(parse_i64("-9223372036854775808"), INT64_MIN);
  EXPECT_FALSE(parse_i64("9223372036854775808"));
  EXPECT_EQ(parse_f64("-1.5e3"), -1500);
  for (const char* text : {"nan", "inf", "-inf", "", "1e999", "1x"}) {
    EXPECT_FALSE(parse_f64(text)) << text;
  }
}

TEST(ParseTest, DurationsHaveUnitsAndSecondsWithoutOne) {
  EXPECT_EQ(parse_duration_ns("250ms"), 250'000'000);
  EXPECT_EQ(parse_duration_ns("1.5 h"), 5'400'000'000'000);
  EXPECT_EQ(parse_duration_ns("90"), 90'000'000'000);
  EXPECT_EQ(parse_duration_ns("10m"), 600'000'000'000);
  EXPECT_EQ(parse_duration_ns("10min"), 600'000'000'000);
  EXPECT_EQ(parse_duration_ns("1d"), 86'400'000'000'000);
  EXPECT_EQ(parse_duration_ns("2w"), 1'209'600'000'000'000);
  EXPECT_EQ(parse_duration_ns("7us"), 7'000);
  EXPECT_EQ(parse_duration_ns("7ns"), 7);
  EXPECT_EQ(parse_duration_ns("0"), 0);
  for (const char* text : {"", "s", "-1s", "1y", "1.2.3s", "1e3s", "400000w"}) {
    EXPECT_FALSE(parse_duration_ns(text)) << text;
  }
}

TEST(ParseTest, BytesHaveBinaryAndDecimalUnits) {
  EXPECT_EQ(parse_bytes("20GiB"), 20ull << 30);
  EXPECT_EQ(parse_bytes("20g"), 20ull << 30);
  EXPECT_EQ(parse_bytes("512 MB"), 512'000'000u);
  EXPECT_EQ(parse_bytes("1048576"), 1'048'576u);
  EXPECT_EQ(parse_bytes("10b"), 10u);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536u);
  EXPECT_EQ(parse_bytes("2TiB"), 2ull << 40);
  for (const char* text : {"", "GiB", "-1", "1 potato", "99999999TiB"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
}

TEST(CleanTextTest, PlainTextStaysAsItIs) {
  EXPECT_EQ(clean_text("python train.py 显卡 é 😀", 100), "python train.py 显卡 é 😀");
  EXPECT_EQ(clean_text("", 10), "");
}

TEST(CleanTextTest, WhatControlsATerminalBecomesABlank) {
  EXPECT_EQ(clean_text("a\nb\r\tc\x1b[31m\x7f", 100), "a b  c [31m ");
  EXPECT_EQ(clean_text(std::string_view("a\0b", 3), 100), "a b");
  EXPECT_EQ(clean_text("\xc2\x9b"
                       "31m",
                       100),
            " 31m")
      << "the one-character form of ESC [";
  EXPECT_EQ(clean_text("a\xe2\x80\xa8"
                       "b",
                       100),
            "a b")
      << "a line separator";
  EXPECT_EQ(clean_text("\xe2\x80\xae"
                       "exe.py",
                       100),
            " exe.py")
      << "a change of direction";
  EXPECT_EQ(clean_text("\xd8\x9c"
                       "42",
                       100),
            " 42")
      << "a mark of direction";
}

TEST(CleanTextTest, WhatIsNotUtf8BecomesTheReplacementCharacter) {
  const std::string_view replaced = "\xef\xbf\xbd";
  EXPECT_EQ(clean_text("\xff", 100), replaced);
  EXPECT_EQ(clean_text("\xc0\x80", 100), std::string(replaced) + std::string(replaced))
      << "overlong";
  EXPECT_EQ(clean_text("\xed\xa0\x80", 100).substr(0, 3), replaced) << "a surrogate";
  EXPECT_EQ(clean_text("\xf4\x90\x80\x80", 100).substr(0, 3), replaced) << "above U+10FFFF";
  EXPECT_EQ(clean_text("a\xe6\x98", 100), "a" + std::string(replaced) + std::string(replaced))
      << "cut off";
}

TEST(CleanTextTest, TheLimitNeverCutsACharacter) {
  EXPECT_EQ(clean_text("显卡", 6), "显卡");
  EXPECT_EQ(clean_text("显卡", 5), "显");
  EXPECT_EQ(clean_text("显卡", 2), "");
  EXPECT_EQ(clean_text("abc", 2), "ab");
  EXPECT_EQ(clean_text("\xff", 2), "") << "the replacement is longer than what it replaces";
}

TEST(NearestTest, SuggestsWhatIsOneSlipAway) {
  const std::vector<std::string_view> known{"history", "events", "processes"};
  EXPECT_EQ(nearest("histroy", known), "history");
  EXPECT_EQ(nearest("event", known), "events");
  EXPECT_EQ(nearest("proceses", known), "processes");
}

TEST(NearestTest, SuggestsNothingForAnotherWord) {
  EXPECT_FALSE(nearest("banana", {"history", "events"}));
  EXPECT_FALSE(nearest("anything", {}));
}

// A request may hold any word: comparing it letter by letter with all names would take minutes.
TEST(NearestTest, AWordOfAMegabyteIsNearNothingAtOnce) {
  const std::vector<std::string_view> known(10'000, "gpu_memory_controller_active_ratio");
  EXPECT_FALSE(nearest(std::string(1'000'000, 'a'), known));
}

TEST(DisplayWidthTest, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("watt"), 4u);
  EXPECT_EQ(display_width("显卡"), 4u);
  EXPECT_EQ(display_width("°C"), 2u);
  EXPECT_EQ(display_width("e\xcc\x81"), 1u) << "a combining accent";
  EXPECT_EQ(display_width("😀"), 2u);
  EXPECT_EQ(display_width("\xff"), 1u);
}

}  // namespace
}  // namespace everywatt::base
