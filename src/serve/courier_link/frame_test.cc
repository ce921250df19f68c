// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/frame.h"

#include <gtest/gtest.h>

namespace everywatt::courier_link {
namespace {

TEST(Frame, IsItsLengthAndItsBytes) {
  EXPECT_EQ(format_frame("abc"), std::string("\x03\0\0\0abc", 7));
  EXPECT_EQ(format_frame(std::string(0x1234, 'x')).substr(0, 4), std::string("\x34\x12\0\0", 4));
  EXPECT_EQ(format_frame(""), std::string(4, '\0'));
}

TEST(FrameReader, PutsPiecesOfAnySizeTogether) {
  const std::string stream =
      format_frame("one") + format_frame("") + format_frame(std::string(1000, 'y'));
  for (std::size_t size = 1; size <= stream.size(); ++size) {
    FrameReader reader;
    std::vector<std::string> frames;
    for (std::size_t at = 0; at < stream.size(); at += size) {
      reader.add(std::string_view(stream).substr(at, size));
      for (auto frame = reader.next(); *frame; frame = reader.next()) {
        frames.push_back(**frame);
      }
    }
    ASSERT_EQ(frames.size(), 3U) << size;
    EXPECT_EQ(frames[0], "one");
    EXPECT_EQ(frames[1], "");
    EXPECT_EQ(frames[2], std::string(1000, 'y'));
  }
}

TEST(FrameReader, BelievesNoLengthBeyondTheLimit) {
  FrameReader largest;
  largest.add(format_frame(std::string(kFrameLimitBytes, 'x')));
  EXPECT_EQ((*largest.next())->size(), kFrameLimitBytes);
  FrameReader larger;
  larger.add(std::string_view("\x01\x10\x40\x00", 4));
  EXPECT_EQ(larger.next().error().code, base::Code::kCorrupt);
  FrameReader huge;
  huge.add("\xff\xff\xff\xff");
  EXPECT_EQ(huge.next().error().code, base::Code::kCorrupt);
}

}  // namespace
}  // namespace everywatt::courier_link
