// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/remote_write.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "serve/exporter/exporter.h"
#include "serve/exporter/exporter_fixture.h"
#include "serve/exporter/remote_write_fixture.h"

namespace everywatt::exporter {
namespace {

TEST(RemoteWriteBody, IsTheBytesThatTheFormatsAskFor) {
  WriteRequest request;
  const TimedValue samples[] = {TimedValue::of(1000, 1.5), TimedValue::stale(300)};
  request.add(encode_labels("up{a=\"b\"}", {}), samples);
  EXPECT_EQ(request.samples(), 2u);
  const std::string body = request.finish();
  using namespace std::string_view_literals;
  EXPECT_EQ(unsnap(body),
            "\x0a\x34"
            "\x0a\x0e\x0a\x08__name__\x12\x02up"
            "\x0a\x06\x0a\x01"
            "a\x12\x01"
            "b"
            "\x12\x0c\x09\x00\x00\x00\x00\x00\x00\xf8\x3f\x10\xe8\x07"
            "\x12\x0c\x09\x02\x00\x00\x00\x00\x00\xf0\x7f\x10\xac\x02"sv);
  EXPECT_EQ(request.samples(), 0u);
  EXPECT_EQ(request.bytes(), 0u);
}

TEST(RemoteWriteBody, AStaleMarkerIsTheOneNaNThatMeansIt) {
  WriteRequest request;
  request.add(encode_labels("x", {}), std::vector{TimedValue::stale(1)});
  const auto all = decode(request.finish());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].samples[0].bits, 0x7ff0000000000002u);
  EXPECT_NE(all[0].samples[0].bits,
            std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()));
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

Pairs labels_of(std::string_view series, const Labels& more = {}) {
  WriteRequest request;
  request.add(encode_labels(series, more), std::vector{TimedValue::of(1, 1)});
  return decode(request.finish()).at(0).labels;
}

TEST(RemoteWriteBody, LabelsAreSortedByTheirBytes) {
  EXPECT_EQ(labels_of("m{gpu=\"0\",UUID=\"GPU-1\",Hostname=\"n\"}", {{"cluster", "a"}}),
            (Pairs{{"Hostname", "n"},
                   {"UUID", "GPU-1"},
                   {"__name__", "m"},
                   {"cluster", "a"},
                   {"gpu", "0"}}));
}

TEST(RemoteWriteBody, ALabelIsThereOnceAndTheSeriesOwnGoesFirst) {
  EXPECT_EQ(labels_of("m{instance=\"own\"}", {{"instance", "node"}, {"job", "everywatt"}}),
            (Pairs{{"__name__", "m"}, {"instance", "own"}, {"job", "everywatt"}}));
}

TEST(RemoteWriteBody, NoLabelIsEmpty) {
  EXPECT_EQ(labels_of("m{a=\"\",b=\"1\"}", {{"c", ""}}), (Pairs{{"__name__", "m"}, {"b", "1"}}));
}

TEST(RemoteWriteBody, TextComesBackAsItWasBeforeItWasEscaped) {
  const std::string series = "m{" + format_label("a", "x\"},y=\\\"") + "," +
                             format_label("b", "\xe6\x98\xbe\xe5\x8d\xa1") + "}";
  EXPECT_EQ(labels_of(series),
            (Pairs{{"__name__", "m"}, {"a", "x\"},y=\\\""}, {"b", "\xe6\x98\xbe\xe5\x8d\xa1"}}));
  EXPECT_EQ(labels_of("m{a=\"one\\ntwo\"}"), (Pairs{{"__name__", "m"}, {"a", "one\ntwo"}}));
}

TEST(RemoteWriteBody, TextThatIsNoSeriesOfOursDoesNoHarm) {
  for (const char* text :
       {"m{", "m{a", "m{a=", "m{a=\"", "m{a=\"x\\", "m{a=\"x\"", "}", "{}", "m{}"}) {
    EXPECT_LE(labels_of(text).size(), 2u) << text;
  }
}

class Collected : public SampleSink {
 public:
  void take(std::string_view series, double value) override {
    lines += std::string(series) + ' ' + std::to_string(value) + '\n';
    request.add(encode_labels(series, {}), std::vector{TimedValue::of(5, value)});
    ++samples;
  }
  std::string lines;
  WriteRequest request;
  std::size_t samples = 0;
};

TEST(RemoteWriteBody, HasTheSeriesAndValuesThatAScrapeShows) {
  view::Machine machine({.gpus = 2});
  add_busy_gpu(machine, 0);
  add_busy_gpu(machine, 1);
  const auto view = machine.view(kNow);
  Encoder encoder({.hostname = "node"});
  const Wish wish{.names = kAllNames};
  Collected collected;
  Exposition out(collected);
  encoder.encode(*view, wish, out);
  out.end();
  std::string text;
  Exposition text_out(text);
  encoder.encode(*view, wish, text_out);
  text_out.end();

  std::string expected;
  std::size_t samples = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.starts_with('#')) continue;
    const std::size_t space = line.rfind(' ');
    expected += line.substr(0, space) + ' ' + std::to_string(std::stod(line.substr(space))) + '\n';
    ++samples;
  }
  EXPECT_EQ(collected.lines, expected);
  EXPECT_GT(samples, 200u);
  EXPECT_EQ(decode(collected.request.finish()).size(), samples);
}

TEST(RemoteWriteBody, SlicesOfOneSayTogetherWhatAllOfItSays) {
  WriteRequest request;
  for (int i = 0; i < 5; ++i) {
    request.add(encode_labels("m{i=\"" + std::to_string(i) + "\"}", {}),
                std::vector{TimedValue::of(10, i), TimedValue::stale(20)});
  }
  const std::string body = request.finish();
  const std::vector<DecodedSeries> whole = decode(body);
  for (std::size_t size = 1; size <= 11; ++size) {
    std::vector<DecodedSeries> together;
    std::size_t samples = 0;
    for (std::size_t first = 0; first < 10; first += size) {
      const auto slice = slice_body(body, first, size);
      ASSERT_TRUE(slice);
      EXPECT_EQ(slice->samples, std::min(size, 10 - first));
      samples += slice->samples;
      for (DecodedSeries& series : decode(slice->bytes)) {
        if (!together.empty() && together.back().labels == series.labels) {
          std::ranges::copy(series.samples, std::back_inserter(together.back().samples));
        } else {
          together.push_back(std::move(series));
        }
      }
    }
    EXPECT_EQ(samples, 10u);
    EXPECT_EQ(together, whole) << size;
  }
}

TEST(RemoteWriteBody, BytesThatAreNoBodyHaveNoSlices) {
  WriteRequest request;
  request.add(encode_labels("m", {}), std::vector{TimedValue::of(1, 1)});
  const std::string body = request.finish();
  EXPECT_FALSE(slice_body(body, 1, 1));
  EXPECT_FALSE(slice_body("", 0, 1));
  EXPECT_FALSE(slice_body("\xff\xff\xff\xff\x0f", 0, 1));
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::string changed = body;
    changed[i] = static_cast<char>(changed[i] ^ 0x80);
    (void)slice_body(changed, 0, 1);
    (void)slice_body(body.substr(0, i), 0, 1);
  }
}

}  // namespace
}  // namespace everywatt::exporter
