// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/redact.h"

#include <algorithm>
#include <cstdint>

namespace everywatt::outgoing {
namespace {

constexpr std::size_t kShortest = 6;
// A short word of a path is no secret, and may be any word of the answer. The value of a parameter
// is more likely one.
constexpr std::size_t kShortestOfPath = 16;

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view three = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < three.size() ? static_cast<unsigned char>(three[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= three.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

class Redaction {
 public:
  explicit Redaction(HttpOutcome& outcome) : outcome_(outcome) {}

  void cut(std::string_view secret, std::size_t shortest = kShortest) {
    if (secret.size() < shortest) return;
    for (std::string* text : {&outcome_.body, &outcome_.error}) {
      for (std::size_t at = text->find(secret); at != std::string::npos; at = text->find(secret)) {
        text->replace(at, secret.size(), "***");
      }
    }
  }

  // Name and password as the header of basic authentication has them.
  void cut_login(std::string_view name, std::string_view password) {
    cut(base64(std::string(name) + ":" + std::string(password)));
    cut(password);
  }

  void cut_address(std::string_view url) {
    cut(url);
    const std::size_t host = url.find("://");
    if (host == std::string_view::npos) return;
    url.remove_prefix(host + 3);
    const std::size_t end = std::min(url.find_first_of("/?#"), url.size());
    if (const std::size_t at = url.substr(0, end).rfind('@'); at != std::string_view::npos) {
      const std::string_view login = url.substr(0, at);
      const std::size_t colon = std::min(login.find(':'), login.size());
      cut_login(login.substr(0, colon), login.substr(std::min(colon + 1, login.size())));
    }
    cut_words(url.substr(end));
  }

 private:
  // Of path and parameters, each of which begins with what parts it from the one before.
  void cut_words(std::string_view rest) {
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of("/?&=#", 1), rest.size());
      cut(rest.substr(1, end - 1), rest.front() == '=' ? kShortest : kShortestOfPath);
      rest.remove_prefix(end);
    }
  }

  HttpOutcome& outcome_;
};

}  // namespace

void redact(HttpOutcome& outcome, const HttpRequest& request) {
  Redaction redaction(outcome);
  redaction.cut_address(request.url.reveal());
  redaction.cut(request.bearer_token.reveal());
  if (!request.username.empty()) {
    redaction.cut_login(request.username, request.password.reveal());
  }
}

}  // namespace everywatt::outgoing
