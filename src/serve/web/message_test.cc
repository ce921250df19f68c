// SPDX-License-Identifier: Apache-2.0
#include "serve/web/message.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

TEST(Message, TheHeadIsExactlyThis) {
  Response response = text_response(405, "only GET and HEAD");
  response.allow = "GET, HEAD";
  EXPECT_EQ(
      format_head(response, Version::kHttp11, Connection::kClose, "Wed, 02 Dec 2026 06:14:18 GMT"),
      "HTTP/1.1 405 Method Not Allowed\r\n"
      "Date: Wed, 02 Dec 2026 06:14:18 GMT\r\n"
      "Content-Type: text/plain; charset=utf-8\r\n"
      "Content-Length: 18\r\n"
      "Allow: GET, HEAD\r\n"
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "X-Frame-Options: DENY\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Connection: close\r\n\r\n");
}

TEST(Message, AnOldClientIsToldThatItsConnectionStays) {
  const Response response = text_response(200, "alive");
  EXPECT_NE(format_head(response, Version::kHttp10, Connection::kKeep, "")
                .find("\r\nConnection: keep-alive\r\n"),
            std::string::npos);
  EXPECT_EQ(format_head(response, Version::kHttp11, Connection::kKeep, "").find("Connection:"),
            std::string::npos);
}

TEST(Message, DatesAreThoseOfHttp) {
  EXPECT_EQ(format_http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(format_http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
}

TEST(Message, AnErrorInJsonIsOneEscapedLine) {
  const Response response = json_error(400, "no \"metric\"\n\xff");
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body.bytes, "{\"error\":\"no \\\"metric\\\"\\n\xef\xbf\xbd\"}\n");
}

}  // namespace
}  // namespace everywatt::web
