// SPDX-License-Identifier: Apache-2.0
#include "serve/web/annotation.h"

#include <gtest/gtest.h>

#include <limits>

namespace everywatt::web {
namespace {

bool is_taken(std::string_view message) {
  return parse_annotation(message).has_value();
}

TEST(Annotation, SaysWhatItsSenderWrote) {
  const auto annotation = parse_annotation(
      R"({"text":"lr drop","step":1200,"epoch":2.5,"phase":"train","values":{"loss":0.25,"n":3}})");
  ASSERT_TRUE(annotation.has_value());
  EXPECT_EQ(annotation->text, "lr drop");
  EXPECT_EQ(annotation->step, 1200);
  EXPECT_EQ(annotation->epoch, 2.5);
  EXPECT_EQ(annotation->phase, "train");
  using Values = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(annotation->values, (Values{{"loss", 0.25}, {"n", 3}}));
}

TEST(Annotation, IsAnyPartOfIt) {
  EXPECT_TRUE(is_taken(R"({"text":"x"})"));
  EXPECT_TRUE(is_taken(R"({"phase":"x"})"));
  EXPECT_TRUE(is_taken(R"({"step":0})"));
  EXPECT_TRUE(is_taken(R"({"epoch":3})"));
  EXPECT_TRUE(is_taken(R"({"values":{"loss":1}})"));
  EXPECT_FALSE(is_taken("{}"));
  EXPECT_FALSE(is_taken(R"({"text":"","values":{}})"));
}

TEST(Annotation, IsOneJsonObject) {
  for (const char* message :
       {"", " ", "null", "7", "\"text\"", "[]", "[{\"text\":\"x\"}]", "{", "{\"text\":\"x\"",
        "{\"text\":\"x\"} {}", "{\"text\":\"x\"},", "{'text':'x'}", "{text:\"x\"}",
        "{\"text\":\"x\",}", "{\"text\":\"x\"}//", "\xff", "step=7"}) {
    EXPECT_FALSE(is_taken(message)) << message;
  }
}

TEST(Annotation, HasOnlyTheKeysThatThereAre) {
  EXPECT_FALSE(is_taken(R"({"text":"x","uid":0})"));
  EXPECT_FALSE(is_taken(R"({"text":"x","":1})"));
  EXPECT_FALSE(is_taken(R"({"Text":"x"})"));
}

TEST(Annotation, HasEachOfItsType) {
  for (const char* message :
       {R"({"text":7})", R"({"text":null})", R"({"text":["x"]})", R"({"phase":true})",
        R"({"step":"7"})", R"({"step":7.0})", R"({"step":null})", R"({"epoch":"2"})",
        R"({"epoch":{}})", R"({"values":[1]})", R"({"values":{"a":"1"}})", R"({"values":{"a":{}}})",
        R"({"values":{"a":null}})", R"({"values":{"":1}})"}) {
    EXPECT_FALSE(is_taken(message)) << message;
  }
}

TEST(Annotation, HasNoAbsurdNumbers) {
  EXPECT_EQ(parse_annotation(R"({"step":9223372036854775807})")->step,
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_annotation(R"({"step":-9223372036854775808})")->step,
            std::numeric_limits<std::int64_t>::min());
  for (const char* message : {R"({"step":9223372036854775808})", R"({"step":-9223372036854775809})",
                              R"({"step":1e3})", R"({"epoch":1e999})", R"({"epoch":NaN})",
                              R"({"epoch":Infinity})", R"({"values":{"a":-1e999}})"}) {
    EXPECT_FALSE(is_taken(message)) << message;
  }
}

TEST(Annotation, IsNoLargerThanItMayBe) {
  const auto message_of = [](std::size_t bytes) {
    constexpr std::size_t kFrame = 11;  // {"text":""}
    return R"({"text":")" + std::string(bytes - kFrame, 'x') + R"("})";
  };
  EXPECT_TRUE(is_taken(message_of(kMostAnnotationBytes)));
  EXPECT_FALSE(is_taken(message_of(kMostAnnotationBytes + 1)));
  const std::string name(32, 'n');
  EXPECT_TRUE(is_taken(R"({"values":{")" + name + R"(":1}})"));
  EXPECT_FALSE(is_taken(R"({"values":{")" + name + R"(n":1}})"));
}

TEST(Annotation, HasAtMostSixteenValues) {
  std::string values;
  for (int i = 0; i < 16; ++i) {
    values += (i == 0 ? "\"v" : ",\"v") + std::to_string(i) + "\":1";
  }
  EXPECT_TRUE(is_taken(R"({"values":{)" + values + "}}"));
  EXPECT_FALSE(is_taken(R"({"values":{)" + values + R"(,"one more":1}})"));
}

TEST(Annotation, IsUtf8) {
  EXPECT_TRUE(is_taken("{\"text\":\"\xe4\xb8\xad\"}"));
  for (const char* bytes : {"\xff", "\xc3", "\xed\xa0\x80", "\xc0\xaf", "\xf5\x80\x80\x80"}) {
    EXPECT_FALSE(is_taken(std::string("{\"text\":\"") + bytes + "\"}")) << bytes;
  }
  EXPECT_FALSE(is_taken(R"({"text":"\ud800"})"));
}

TEST(Annotation, IsNotNestedDeep) {
  const std::string open(1000, '[');
  const std::string close(1000, ']');
  EXPECT_FALSE(is_taken(R"({"text":)" + open + close + "}"));
  EXPECT_FALSE(is_taken(open + close));
  EXPECT_FALSE(is_taken(std::string(2048, '[')));
}

}  // namespace
}  // namespace everywatt::web
