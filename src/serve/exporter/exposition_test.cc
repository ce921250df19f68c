// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/exposition.h"

#include <gtest/gtest.h>

namespace everywatt::exporter {
namespace {

TEST(Exposition, AFamilyIsAnnouncedOnceAndOnlyWithASample) {
  std::string text;
  Exposition out(text);
  out.begin_family("empty", "gauge", "Nothing comes.");
  out.begin_family("a_total", "counter", "Line\nand back\\slash.");
  out.sample().value(std::uint64_t{1});
  out.sample().labels("gpu=\"0\"").label("x", "y").value(2.5);
  out.begin_family("h", "histogram", "H.");
  out.sample("_bucket").label("le", "+Inf").value(std::uint64_t{3});
  EXPECT_EQ(text,
            "# HELP a_total Line and back\\\\slash.\n"
            "# TYPE a_total counter\n"
            "a_total 1\n"
            "a_total{gpu=\"0\",x=\"y\"} 2.5\n"
            "# HELP h H.\n"
            "# TYPE h histogram\n"
            "h_bucket{le=\"+Inf\"} 3\n");
}

TEST(Exposition, NumbersReadBackAsTheyWere) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {0.1, "0.1"},
      {1.0 / 3, "0.3333333333333333"},
      {1980e6, "1980000000"},
      {-12.5, "-12.5"},
      {1e300, "1e+300"},
      {9007199254740992.0, "9007199254740992"},
  };
  for (const auto& [value, expected] : cases) {
    std::string text;
    Exposition out(text);
    out.begin_family("x", "gauge", "X.");
    out.sample().value(value);
    const std::string last = text.substr(text.rfind(' ') + 1);
    EXPECT_EQ(std::stod(last), value);
    EXPECT_EQ(last, std::string(expected) + "\n");
  }
}

// Names of processes, pods and the like are chosen by whoever runs them.
TEST(Exposition, TextOfAWorkloadCannotLeaveItsLabel) {
  const std::pair<std::string, const char*> cases[] = {
      {"plain", "l=\"plain\""},
      {"a\"b", "l=\"a\\\"b\""},
      {"a\\", "l=\"a\\\\\""},
      {"x\"} 1\nforged_metric 2", "l=\"x\\\"} 1 forged_metric 2\""},
      {"a,b=\"c\"", "l=\"a,b=\\\"c\\\"\""},
      {"\xff\xfe", "l=\"\xef\xbf\xbd\xef\xbf\xbd\""},
      {"\x1b[31m", "l=\" [31m\""},
      {"显卡", "l=\"显卡\""},
  };
  for (const auto& [value, expected] : cases)
    EXPECT_EQ(format_label("l", value), expected);
  EXPECT_LE(format_label("l", std::string(10'000, 'x')).size(), 300u);
}

TEST(Exposition, LabelsAreJoinedWithoutEmptyParts) {
  EXPECT_EQ(join_labels("", ""), "");
  EXPECT_EQ(join_labels("a=\"1\"", ""), "a=\"1\"");
  EXPECT_EQ(join_labels("", "b=\"2\""), "b=\"2\"");
  EXPECT_EQ(join_labels("a=\"1\"", "b=\"2\""), "a=\"1\",b=\"2\"");
}

}  // namespace
}  // namespace everywatt::exporter
