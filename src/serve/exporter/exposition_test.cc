// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/exposition.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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

TEST(OpenMetrics, FamiliesAreCalledWithoutTheSuffixOfTheirSamples) {
  std::string text;
  Exposition out(text, Format::kOpenMetrics);
  out.begin_family("empty", "gauge", "Nothing comes.");
  out.begin_family("a_joules_total", "counter", "What \"a\" used.\nAnd more.");
  out.sample().value(1.5);
  out.begin_family("DCGM_COUNT", "counter", "Of DCGM.");
  out.sample().label("gpu", "0").value(std::uint64_t{7});
  out.begin_family("b_info", "info", "What b is.");
  out.sample().value(std::uint64_t{1});
  out.begin_family("c_bytes_per_second", "gauge", "No base unit.");
  out.sample().value(std::uint64_t{1});
  out.remark("people see this elsewhere");
  out.end();
  EXPECT_EQ(text,
            "# TYPE a_joules counter\n# UNIT a_joules joules\n"
            "# HELP a_joules What \\\"a\\\" used. And more.\na_joules_total 1.5\n"
            "# TYPE DCGM_COUNT unknown\n# HELP DCGM_COUNT Of DCGM.\nDCGM_COUNT{gpu=\"0\"} 7\n"
            "# TYPE b info\n# HELP b What b is.\nb_info 1\n"
            "# TYPE c_bytes_per_second gauge\n# HELP c_bytes_per_second No base unit.\n"
            "c_bytes_per_second 1\n# EOF\n");
}

TEST(Exposition, AFilterLeavesNoTraceOfTheRest) {
  std::string text;
  Exposition out(text);
  const std::vector<std::string> wanted{"a", "b_*"};
  out.set_filter(wanted);
  for (const char* name : {"a", "ab", "b_1", "b_2", "b"}) {
    out.begin_family(name, "gauge", "X.");
    out.sample().value(std::uint64_t{1});
  }
  out.end();
  EXPECT_EQ(text,
            "# HELP a X.\n# TYPE a gauge\na 1\n# HELP b_1 X.\n# TYPE b_1 gauge\nb_1 1\n"
            "# HELP b_2 X.\n# TYPE b_2 gauge\nb_2 1\n");
}

class Taken : public SampleSink {
 public:
  void take(std::string_view series, double value) override { samples.emplace_back(series, value); }
  std::vector<std::pair<std::string, double>> samples;
};

TEST(Exposition, ASinkIsGivenTheSamplesThatTheTextWouldHaveWithoutTheTextOfTheOthers) {
  const std::vector<std::string> wanted{"a_total", "h*"};
  Taken taken;
  Exposition out(taken);
  out.set_filter(wanted);
  out.remark("Nobody reads this.");
  out.begin_family("a_total", "counter", "A.");
  out.sample().value((std::uint64_t{1} << 53) + 2);
  out.begin_family("b", "gauge", "B.");
  out.sample().labels("gpu=\"0\"").value(1.0);
  out.begin_family("h", "histogram", "H.");
  out.sample("_bucket").labels("gpu=\"0\"").label("le", "+Inf").value(std::uint64_t{3});
  out.sample("_sum").number("0.250000");
  out.end();
  const std::vector<std::pair<std::string, double>> expected{
      {"a_total", 9007199254740994.0},
      {"h_bucket{gpu=\"0\",le=\"+Inf\"}", 3},
      {"h_sum", 0.25},
  };
  EXPECT_EQ(taken.samples, expected);
}

}  // namespace
}  // namespace everywatt::exporter
