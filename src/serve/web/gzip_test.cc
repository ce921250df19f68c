// SPDX-License-Identifier: Apache-2.0
#include "serve/web/gzip.h"

#include "serve/web/web_fixture.h"

namespace everywatt::web {
namespace {

TEST(Gzip, WhatComesOutIsWhatWentInAndEqualTextsGiveEqualBytes) {
  Gzip gzip;
  std::string text;
  for (int line = 0; line < 5000; ++line)
    text += "gpu_power_watts{gpu=\"" + std::to_string(line);
  const std::string packed = gzip.compress(text);
  EXPECT_LT(packed.size(), text.size() / 4);
  EXPECT_EQ(gunzip(packed), text);
  EXPECT_EQ(gunzip(gzip.compress("")), "");
  EXPECT_EQ(gzip.compress(text), packed);
}

TEST(Gzip, OnlyAClientThatTakesItGetsIt) {
  for (const char* accept : {"gzip", "GZIP", "deflate, gzip", "gzip;q=0.5, br", "x-gzip", "*",
                             "br;q=1.0,*;q=0.1", " gzip ; q=1 "}) {
    EXPECT_TRUE(accepts_gzip(accept)) << accept;
  }
  for (const char* accept :
       {"", "identity", "br, deflate", "gzip;q=0", "gzip;q=0.000, *", "*;q=0", "gzipped"}) {
    EXPECT_FALSE(accepts_gzip(accept)) << accept;
  }
}

}  // namespace
}  // namespace everywatt::web
