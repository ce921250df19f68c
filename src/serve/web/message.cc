// SPDX-License-Identifier: Apache-2.0
#include "serve/web/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <string>
#include <utility>

#include "serve/web/json.h"

namespace everywatt::web {
namespace {

void add(std::string& head, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  fmt::format_to(std::back_inserter(head), "{}: {}\r\n", name, value);
}

}  // namespace

Body Body::of(std::string text) {
  return of(std::make_shared<const std::string>(std::move(text)));
}

Body Body::of(std::shared_ptr<const std::string> text) {
  Body body;
  body.owner = std::move(text);
  body.bytes = *body.owner;
  return body;
}

Response text_response(unsigned status, std::string line) {
  line += '\n';
  Response response;
  response.status = status;
  response.body = Body::of(std::move(line));
  return response;
}

Response json_error(unsigned status, std::string_view message) {
  Response response;
  response.status = status;
  response.content_type = kJson;
  response.body = Body::of(fmt::format("{{\"error\":{}}}\n", quote_json(message)));
  return response;
}

std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 202:
      return "Accepted";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

// Not strftime(): HTTP's names of days and months are English in every locale.
std::string format_http_date(std::int64_t unix_seconds) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                  "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = unix_seconds;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} GMT",
                     kDays[static_cast<std::size_t>(utc.tm_wday)], utc.tm_mday,
                     kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                     utc.tm_min, utc.tm_sec);
}

std::string format_head(const Response& response, Version version, Connection connection,
                        std::string_view date, std::span<const HeaderField> configured) {
  std::string head;
  head.reserve(512);
  fmt::format_to(std::back_inserter(head), "HTTP/1.1 {} {}\r\n", response.status,
                 reason_phrase(response.status));
  const auto add_unless_configured = [&](std::string_view name, std::string_view value) {
    if (std::ranges::find(configured, name, &HeaderField::name) == configured.end()) {
      add(head, name, value);
    }
  };
  add(head, "Date", date);
  add(head, "Content-Type", response.content_type);
  fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", response.body.bytes.size());
  add(head, "Content-Encoding", response.content_encoding);
  add(head, "Vary", response.vary);
  add(head, "Allow", response.allow);
  add(head, "WWW-Authenticate", response.challenge);
  if (response.retry_after_s > 0) add(head, "Retry-After", std::to_string(response.retry_after_s));
  add(head, "Cache-Control", response.cache_control);
  add_unless_configured("Content-Security-Policy", response.content_security_policy);
  add_unless_configured("X-Content-Type-Options", "nosniff");
  add_unless_configured("X-Frame-Options", "DENY");
  add(head, "Referrer-Policy", "no-referrer");
  add(head, "Cross-Origin-Resource-Policy", "same-origin");
  for (const HeaderField& field : configured)
    add(head, field.name, field.value);
  if (connection == Connection::kClose) {
    add(head, "Connection", "close");
  } else if (version == Version::kHttp10) {
    add(head, "Connection", "keep-alive");
  }
  head += "\r\n";
  return head;
}

}  // namespace everywatt::web
