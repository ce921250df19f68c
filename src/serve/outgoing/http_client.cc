// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/text.h"
#include "serve/outgoing/curl_library.h"

namespace everywatt::outgoing {
namespace {

struct Answer {
  std::string body;
  std::string retry_after;
  bool is_asked_for = false;
};

// libcurl sends again by itself what got no answer on a connection that it had kept. Whoever asked
// must know: the first may have been taken.
int ask_once(void* target, char*, char*, int, int) {
  const bool is_again = std::exchange(static_cast<Answer*>(target)->is_asked_for, true);
  return is_again ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t take_body(char* bytes, std::size_t size, std::size_t count, void* target) {
  std::string& body = static_cast<Answer*>(target)->body;
  body.append(bytes, std::min(size * count, kAnswerLimitBytes - body.size()));
  return size * count;
}

std::size_t take_header(char* bytes, std::size_t size, std::size_t count, void* target) {
  const std::string_view line(bytes, size * count);
  Answer& answer = *static_cast<Answer*>(target);
  // A new status line: what stood before it was an interim answer.
  if (line.starts_with("HTTP/")) answer.retry_after.clear();
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos && base::to_lower(line.substr(0, colon)) == "retry-after") {
    answer.retry_after = base::trim(line.substr(colon + 1));
  }
  return size * count;
}

bool is_http(std::string_view url) {
  const std::string start = base::to_lower(url.substr(0, 8));
  return start.starts_with("http://") || start == "https://";
}

// A line break in what becomes a header would be one more header.
bool is_line(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos;
}

std::string request_fault(const HttpRequest& request) {
  if (!is_http(request.url.reveal())) return "the address is not one of http:// or https://";
  const bool are_lines = is_line(request.content_type) && is_line(request.username) &&
                         is_line(request.bearer_token.reveal()) &&
                         std::ranges::all_of(request.headers, is_line);
  return are_lines ? "" : "a header holds a line break";
}

void set_login(CurlHandle& curl, const HttpRequest& request, CurlList& headers) {
  if (!request.bearer_token.is_empty()) {
    headers.add("Authorization: Bearer " + request.bearer_token.reveal());
  } else if (!request.username.empty()) {
    curl.set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    curl.set(CURLOPT_USERNAME, request.username);
    curl.set(CURLOPT_PASSWORD, request.password.reveal());
  }
  if (!request.cert_file.empty()) curl.set(CURLOPT_SSLCERT, request.cert_file);
  if (!request.key_file.empty()) curl.set(CURLOPT_SSLKEY, request.key_file);
}

}  // namespace

std::string shown_address(std::string_view url) {
  const std::size_t colon = url.find("://");
  if (colon == std::string_view::npos) return "the address";
  std::string_view host = url.substr(colon + 3);
  host = host.substr(0, host.find_first_of("/?#\\"));
  if (const std::size_t at = host.rfind('@'); at != std::string_view::npos)
    host.remove_prefix(at + 1);
  // Else it is no host: a password with a slash in it, say.
  const std::size_t port = host.starts_with('[') ? host.find("]:") : host.find(':');
  if (port != std::string_view::npos &&
      !base::parse_u64(host.substr(host.find(':', port) + 1)).has_value()) {
    return "the address";
  }
  return base::clean_text(fmt::format("{}://{}", url.substr(0, colon), host), 256);
}

std::optional<std::int64_t> parse_retry_after(std::string_view text, std::int64_t wall_ns) {
  // More than a year is no time to wait that anybody means.
  constexpr std::int64_t kLongest_s = 366 * 86'400;
  if (const auto seconds = base::parse_u64(text)) {
    return static_cast<std::int64_t>(std::min<std::uint64_t>(*seconds, kLongest_s));
  }
  tm date{};
  const std::string copy(text);
  // The form that RFC 9110 tells senders to use; the two obsolete ones nobody sends.
  const char* end = ::strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const std::int64_t until_s = ::timegm(&date);
  const std::int64_t now_s = wall_ns / 1'000'000'000;
  return std::clamp<std::int64_t>(until_s - now_s, 0, kLongest_s);
}

struct HttpClient::State {
  State(const CurlLibrary& library, base::Clock wall) : curl(library), wall_ns(std::move(wall)) {}

  CurlHandle curl;
  base::Clock wall_ns;
};

HttpClient::HttpClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

base::Result<HttpClient> HttpClient::open(base::Clock wall_ns) {
  const auto library = CurlLibrary::open();
  if (!library) return std::unexpected(library.error());
  auto state = std::make_unique<State>(**library, std::move(wall_ns));
  if (!state->curl.is_open()) {
    return base::fail(base::Code::kUnavailable, "libcurl gives no handle");
  }
  return HttpClient(std::move(state));
}

HttpOutcome HttpClient::post(const HttpRequest& request) {
  HttpOutcome outcome;
  const std::string address = shown_address(request.url.reveal());
  if (const std::string fault = request_fault(request); !fault.empty()) {
    outcome.error = fault;
    return outcome;
  }
  CurlHandle& curl = state_->curl;
  curl.reset();
  CurlList headers(curl.library());
  headers.add("Content-Type: " + request.content_type);
  // Without this libcurl waits a second for a permission to send a body that few servers give.
  headers.add("Expect:");
  for (const std::string& header : request.headers)
    headers.add(header);
  set_login(curl, request, headers);
  Answer answer;
  curl.set(CURLOPT_URL, request.url.reveal());
  // The protocols were judged above; named by bits, as the names came with libcurl 7.85 only.
  curl.set(CURLOPT_FOLLOWLOCATION, 0L);
  curl.set(CURLOPT_PROXY, request.proxy);  // empty: none, whatever the environment says
  curl.set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl.set(CURLOPT_POST, 1L);
  curl.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl.set(CURLOPT_POSTFIELDS, request.body.data());
  curl.set(CURLOPT_HTTPHEADER, headers.get());
  curl.set(CURLOPT_USERAGENT, "everywatt");
  curl.set(CURLOPT_WRITEFUNCTION, &take_body);
  curl.set(CURLOPT_WRITEDATA, &answer);
  curl.set(CURLOPT_HEADERFUNCTION, &take_header);
  curl.set(CURLOPT_HEADERDATA, &answer);
  // Not known before libcurl 7.80, which then sends again.
  curl.set(CURLOPT_PREREQFUNCTION, &ask_once);
  curl.set(CURLOPT_PREREQDATA, &answer);
  // One request at a time has no use for HTTP/2, in which a server may ask for another try.
  curl.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl.set_limits(request.connect_timeout_ms, request.timeout_ms, request.stop);
  curl.set_trust(request.ca_file);
  if (request.tls_check == TlsCheck::kNone) {
    curl.set(CURLOPT_SSL_VERIFYPEER, 0L);
    curl.set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  const CURLcode code = curl.perform();
  if (code != CURLE_OK) {
    outcome.error = curl.explain(code, address, request.stop);
    return outcome;
  }
  outcome.status = static_cast<int>(curl.get_long(CURLINFO_RESPONSE_CODE));
  outcome.body = std::move(answer.body);
  if (!answer.retry_after.empty()) {
    outcome.retry_after_s = parse_retry_after(answer.retry_after, state_->wall_ns());
  }
  return outcome;
}

}  // namespace everywatt::outgoing
