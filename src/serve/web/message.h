// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

// What goes in and out over HTTP, free of sockets.
namespace everywatt::web {

enum class Method : std::uint8_t { kGet, kHead, kPost, kOther };
enum class Version : std::uint8_t { kHttp10, kHttp11 };
// Whether who sent a request has proved to be one of those whom the configuration lets in.
enum class Who : std::uint8_t { kAnybody, kAuthenticated };

// One request, its header only: a body is read when the answer asks for it (Upload).
struct Request {
  Method method = Method::kGet;
  Version version = Version::kHttp11;
  std::string target = "/";  // as sent: "/metrics?names=native", or "http://host/metrics"
  std::string host = {};     // the field's value
  std::size_t host_fields = 0;
  std::string accept = {};
  std::string accept_encoding = {};
  std::string authorization = {};
  std::size_t authorization_fields = 0;
  std::string content_type = {};
  std::string origin = {};
  // What the connection knows of who sent it (client_of() in connections.cc).
  std::string client = {};
  Who who = Who::kAnybody;
};

// Bytes that may be shared: with the cache, or constants of the program (no owner).
struct Body {
  std::shared_ptr<const std::string> owner = {};
  std::string_view bytes = {};

  static Body of(std::string text);
  static Body of(std::shared_ptr<const std::string> text);
  static Body of_constant(std::string_view text) { return {.owner = {}, .bytes = text}; }
};

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";

struct HeaderField {
  std::string name;
  std::string value;
};

struct Upload;

// An answer. Views are constants of the program. What is empty is not sent.
struct Response {
  unsigned status = 200;
  std::string_view content_type = kPlainText;
  Body body = {};
  std::string_view content_encoding = {};
  std::string_view vary = {};
  std::string_view cache_control = "no-store";
  // Nothing but the page itself is ever a document.
  std::string_view content_security_policy = "default-src 'none'; frame-ancestors 'none'";
  std::string_view allow = {};
  std::string_view challenge = {};  // WWW-Authenticate
  unsigned retry_after_s = 0;
  // Set: this is no answer yet, the request's body is wanted first.
  std::shared_ptr<const Upload> upload = {};
};

// What is to become of a request's body.
struct Upload {
  std::size_t limit_bytes = 0;  // a larger one is answered 413
  // Gets the body once it has come whole. `answer` is to be called once, on the same thread, at
  // once or later.
  std::function<void(std::string body, std::function<void(Response)> answer)> take = {};
  std::chrono::milliseconds patience{5'000};  // for the answer; then it is 503
};

// A line of text for people; of JSON, {"error":...}.
Response text_response(unsigned status, std::string line);
Response json_error(unsigned status, std::string_view message);

std::string_view reason_phrase(unsigned status);

// "Wed, 02 Dec 2026 06:14:18 GMT".
std::string format_http_date(std::int64_t unix_seconds);

enum class Connection : std::uint8_t { kKeep, kClose };
// Status line and header up to the empty line. `date` as format_http_date() writes it. What is
// `configured` stands in place of a field of ours.
std::string format_head(const Response& response, Version version, Connection connection,
                        std::string_view date, std::span<const HeaderField> configured = {});

}  // namespace everywatt::web
