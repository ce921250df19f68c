// SPDX-License-Identifier: Apache-2.0
#include "serve/web/accept.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

using exporter::Format;

TEST(Accept, OpenMetricsIsWrittenForWhoLikesItBest) {
  for (const char* accept : {
           // Prometheus 2.42 and 3.
           "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
           "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
           "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
           "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=1.0.0;"
           "escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
           "application/openmetrics-text",
           "APPLICATION/OpenMetrics-Text ; Version=1.0.0",
       }) {
    EXPECT_EQ(format_for(accept), Format::kOpenMetrics) << accept;
  }
}

TEST(Accept, EverybodyElseGetsText) {
  for (const char* accept :
       {"", "*/*", "text/html,application/xhtml+xml,*/*;q=0.8", "text/plain",
        "text/plain;version=0.0.4;q=0.5,application/openmetrics-text;version=1.0.0;q=0.2",
        "application/openmetrics-text;version=0.0.1", "application/openmetrics-text;q=0",
        "application/openmetrics-text;q=x", "application/openmetrics-text;version=2.0.0",
        ";;,,="}) {
    EXPECT_EQ(format_for(accept), Format::kText) << accept;
  }
}

}  // namespace
}  // namespace everywatt::web
