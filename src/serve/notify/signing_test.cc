// SPDX-License-Identifier: Apache-2.0
#include "serve/notify/signing.h"

#include <gtest/gtest.h>

namespace everywatt::notify {
namespace {

// Computed with Python: base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).
TEST(Signing, SignsForDingTalkWithTheSecretAsKey) {
  EXPECT_EQ(sign_dingtalk(1'764'655'507'000, "SEC0123456789abcdef"),
            "VHrTTNckKhqYsYZYhlfWTPrMPTPk6tZ3i/gTbnqSEMk=");
  EXPECT_EQ(percent_encode(sign_dingtalk(1'764'655'507'000, "SEC0123456789abcdef")),
            "VHrTTNckKhqYsYZYhlfWTPrMPTPk6tZ3i%2FgTbnqSEMk%3D");
}

TEST(Signing, SignsForFeishuWithAnEmptyMessage) {
  EXPECT_EQ(sign_feishu(1'764'655'507, "feishu-secret"),
            "8dSOjJfeAItIV/ypRyvsVNLjoypZYWzx22POiDhOdNk=");
}

// RFC 4231, test case 2.
TEST(Signing, ComputesTheHmacOfTheRfc) {
  EXPECT_EQ(base64(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=");
}

// RFC 4648, section 10.
TEST(Signing, PadsBase64) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
}

TEST(Signing, EncodesAllButUnreservedCharacters) {
  EXPECT_EQ(percent_encode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(percent_encode("a+b/c= d\xe5"), "a%2Bb%2Fc%3D%20d%E5");
}

}  // namespace
}  // namespace everywatt::notify
