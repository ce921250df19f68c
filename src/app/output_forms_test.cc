// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "app/exit_code.h"
#include "app/json_text.h"
#include "app/shown_value.h"
#include "app/table.h"

namespace everywatt::app {
namespace {

TEST(Table, AlignsByWhatATerminalShows) {
  Table table({{"GPU"}, {"显存", Align::kRight}, {"NAME"}});
  table.add({"0", "2.6 GiB", "H200"});
  table.add({"10", "0 B", ""});
  EXPECT_EQ(table.format(),
            "GPU     显存  NAME\n"
            "0    2.6 GiB  H200\n"
            "10       0 B\n");
}

TEST(Table, MakesItsHeadingsStandOutWhereThatIsWanted) {
  Table table({{"GPU"}});
  table.add({"0"});
  EXPECT_EQ(table.format(Emphasis::kHeadings), "\x1b[1mGPU\x1b[0m\n0\n");
}

TEST(Table, ReplacesWhatATerminalWouldObey) {
  Table table({{"COMMAND"}});
  table.add({"python\x1b[31m\nx"});
  EXPECT_EQ(table.format(), "COMMAND\npython [31m x\n");
}

TEST(JsonText, SeparatesMembersAndElements) {
  JsonText json;
  json.begin_object().key("a").number(1).key("b").begin_array();
  json.string("x").number(2.5).null().boolean(true).begin_object().end_object();
  json.end_array().key("c").begin_array().end_array().end_object();
  EXPECT_EQ(json.text(), R"({"a":1,"b":["x",2.5,null,true,{}],"c":[]})");
}

TEST(JsonText, WritesNumbersExactly) {
  JsonText json;
  json.begin_array();
  json.number(std::numeric_limits<std::uint64_t>::max());
  json.number(std::numeric_limits<std::int64_t>::min());
  json.number(0.1).number(98.24 / 100).number(1e300);
  json.number(std::numeric_limits<double>::quiet_NaN());
  json.number(std::numeric_limits<double>::infinity()).end_array();
  EXPECT_EQ(json.text(),
            "[18446744073709551615,-9223372036854775808,0.1,0.9823999999999999,1e+300,null,null]");
}

TEST(JsonText, EscapesText) {
  JsonText json;
  json.string("a\"b\\c\nd\xff");
  EXPECT_EQ(json.text(), "\"a\\\"b\\\\c d\xef\xbf\xbd\"");
}

TEST(ShownValue, IsExactForPrograms) {
  using catalog::Type;
  EXPECT_EQ(format_exact(Type::kU64, ~std::uint64_t{0}), "18446744073709551615");
  EXPECT_EQ(format_exact(Type::kI64, ~std::uint64_t{0}), "-1");
  EXPECT_EQ(format_exact(Type::kF64, std::bit_cast<std::uint64_t>(692.243)), "692.243");
  JsonText json;
  append_value(json, Type::kI64, static_cast<std::uint64_t>(-5));
  EXPECT_EQ(json.text(), "-5");
}

TEST(ExitCode, TellsBadInputFromNothingToTalkTo) {
  EXPECT_EQ(exit_code(base::Code::kInvalidArgument), 2);
  EXPECT_EQ(exit_code(base::Code::kNotFound), 2);
  EXPECT_EQ(exit_code(base::Code::kCorrupt), 2);
  EXPECT_EQ(exit_code(base::Code::kUnavailable), 3);
  EXPECT_EQ(exit_code(base::Code::kNoPermission), 3);
  EXPECT_EQ(exit_code(base::Code::kIo), 3);
  EXPECT_EQ(exit_code(base::Code::kNotSupported), 3);
}

}  // namespace
}  // namespace everywatt::app
