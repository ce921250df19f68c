// SPDX-License-Identifier: Apache-2.0
#include "serve/web/host_name.h"

#include <gtest/gtest.h>

#include <array>

namespace everywatt::web {
namespace {

const std::array<std::string, 2> kNames = {"gpu7.example", "Monitor."};

TEST(HostName, AddressesLocalhostAndConfiguredNamesAreAllowed) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:9400", "192.0.2.7:1", "[::1]", "[::1]:9400", "[2001:db8::7]:80",
        "[::ffff:192.0.2.1]", "localhost", "LOCALHOST:9400", "localhost.", "gpu7.example",
        "GPU7.Example:9400", "gpu7.example.", "monitor:9400", "10.0.0.1:"}) {
    EXPECT_TRUE(is_allowed_host(host, kNames)) << host;
  }
}

TEST(HostName, EverythingElseIsNot) {
  for (const char* host : {"",
                           "evil.example",
                           "gpu7.example.evil.example",
                           "localhost.evil.example",
                           "127.0.0.1.evil.example",
                           "127.0.0.1:port",
                           "127.0.0.1:123456",
                           "127.1",
                           "0x7f.0.0.1",
                           "2130706433",
                           "[::1",
                           "[localhost]",
                           "[127.0.0.1]",
                           "[::1]x",
                           "[::1]:x",
                           "::1",
                           ".",
                           ":9400",
                           "user@127.0.0.1",
                           "127.0.0.1 evil",
                           "gpu8.example"}) {
    EXPECT_FALSE(is_allowed_host(host, kNames)) << host;
  }
}

TEST(HostName, WithoutConfiguredNamesOnlyAddressesAndLocalhostRemain) {
  EXPECT_TRUE(is_allowed_host("localhost:9400", {}));
  EXPECT_FALSE(is_allowed_host("gpu7.example", {}));
}

}  // namespace
}  // namespace everywatt::web
