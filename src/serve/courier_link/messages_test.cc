// SPDX-License-Identifier: Apache-2.0
#include "serve/courier_link/messages.h"

#include <gtest/gtest.h>

namespace everywatt::courier_link {
namespace {

TEST(Messages, ADeliveryCarriesItsBodyAsItCame) {
  const Delivery delivery{.id = 7, .channel = "ops", .body = std::string("{\"a\":\n1}\0\xff", 10)};
  const std::string frame = format_delivery(delivery);
  EXPECT_TRUE(frame.starts_with("{\"channel\":\"ops\",\"id\":7}\n{\"a\":\n1}"));
  EXPECT_EQ(parse_delivery(frame), delivery);
}

TEST(Messages, WhatIsNoDeliveryIsCorrupt) {
  for (const char* frame :
       {"", "{}", "{}\n", "{\"id\":7}\nx", "{\"id\":-7,\"channel\":\"a\"}\nx",
        "{\"id\":7,\"channel\":1}\nx", "[1]\n", "{\"id\":7,\"channel\":\"ops\"}"}) {
    EXPECT_EQ(parse_delivery(frame).error().code, base::Code::kCorrupt) << frame;
  }
  const std::string name(65, 'n');
  EXPECT_FALSE(parse_delivery(format_delivery({.id = 1, .channel = name})));
}

TEST(Messages, WhatTheCourierSaysComesBackTheSame) {
  const std::vector<FromCourier> messages = {
      Reply{.id = 3, .code = 202},
      Reply{.id = 18446744073709551615U, .code = 503, .message = "the disk is \"full\"\n"},
      ChannelKeys{},
      ChannelKeys{{.name = "ops", .token_sha256 = std::string(64, 'a')}, {.name = "mail"}},
      Status{},
      Status{.channels = {{.name = "ops",
                           .type = "dingtalk",
                           .queued = 1,
                           .sent_total = 2,
                           .failed_total = {{"refused", 3}, {"timeout", 0}},
                           .dropped_total = 4,
                           .retried_total = 5,
                           .digests_total = 6,
                           .last_success_unix = 1'800'000'000}},
             .remote_write = {{.name = "central",
                               .queued_samples = 1,
                               .queued_bytes = 2,
                               .sent_samples_total = 3,
                               .failed_samples_total = {{"400", 4}, {"413", 0}},
                               .dropped_samples_total = 5,
                               .retries_total = 6,
                               .last_success_unix = 7}},
             .cpu_ns = 8,
             .resident_bytes = 9}};
  for (const FromCourier& message : messages) {
    EXPECT_EQ(parse_from_courier(format_from_courier(message)), message)
        << format_from_courier(message);
  }
  EXPECT_EQ(format_from_courier(messages[0]), R"({"reply":{"code":202,"id":3,"message":""}})");
}

TEST(Messages, WhatIsNoMessageOfTheCourierIsCorrupt) {
  for (const char* frame :
       {"", "null", "[]", "{}", "{\"reply\":{}}",
        "{\"reply\":{\"id\":1,\"code\":99,\"message\":\"\"}}",
        "{\"reply\":{\"id\":1,\"code\":202,\"message\":\"\"},\"status\":{}}", "{\"channels\":{}}",
        "{\"channels\":[{\"name\":\"a\",\"token_sha256\":\"b\"}]}", "{\"channels\":[1]}",
        "{\"status\":[]}", "{\"other\":{}}",
        "{\"status\":{\"channels\":[],\"remote_write\":[],\"cpu_ns\":-1,\"resident_bytes\":0}}"}) {
    EXPECT_EQ(parse_from_courier(frame).error().code, base::Code::kCorrupt) << frame;
  }
  EXPECT_FALSE(parse_from_courier(format_from_courier(ChannelKeys(257))));
}

}  // namespace
}  // namespace everywatt::courier_link
