// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/mail_client.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "serve/outgoing/curl_library.h"
#include "serve/outgoing/http_client.h"

namespace everywatt::outgoing {
namespace {

struct Unsent {
  const std::string& message;
  std::size_t used = 0;
};

std::size_t give_message(char* bytes, std::size_t size, std::size_t count, void* source) {
  Unsent& unsent = *static_cast<Unsent*>(source);
  const std::size_t given = std::min(size * count, unsent.message.size() - unsent.used);
  std::memcpy(bytes, unsent.message.data() + unsent.used, given);
  unsent.used += given;
  return given;
}

std::size_t drop(char*, std::size_t size, std::size_t count, void*) {
  return size * count;
}

bool is_address(const std::string& address) {
  return address.find('@') != std::string::npos && std::ranges::all_of(address, [](char c) {
           return static_cast<unsigned char>(c) > ' ' && c != '<' && c != '>' && c != 0x7f;
         });
}

std::string request_fault(const MailRequest& request) {
  const std::string start = base::to_lower(std::string_view(request.url).substr(0, 8));
  if (!start.starts_with("smtp://") && start != "smtps://") {
    return "the address of the mail server is not one of smtp:// or smtps://";
  }
  const bool are_addresses = is_address(request.from) && !request.to.empty() &&
                             std::ranges::all_of(request.to, is_address);
  return are_addresses ? "" : "a mail address is not one";
}

}  // namespace

struct MailClient::State {
  explicit State(const CurlLibrary& library) : curl(library) {}

  CurlHandle curl;
};

MailClient::MailClient(std::unique_ptr<State> state) : state_(std::move(state)) {}
MailClient::MailClient(MailClient&&) noexcept = default;
MailClient& MailClient::operator=(MailClient&&) noexcept = default;
MailClient::~MailClient() = default;

base::Result<MailClient> MailClient::open() {
  const auto library = CurlLibrary::open();
  if (!library) return std::unexpected(library.error());
  auto state = std::make_unique<State>(**library);
  if (!state->curl.is_open()) {
    return base::fail(base::Code::kUnavailable, "libcurl gives no handle");
  }
  return MailClient(std::move(state));
}

MailOutcome MailClient::send(const MailRequest& request) {
  MailOutcome outcome;
  if (outcome.error = request_fault(request); !outcome.error.empty()) return outcome;
  CurlHandle& curl = state_->curl;
  curl.reset();
  CurlList recipients(curl.library());
  for (const std::string& address : request.to)
    recipients.add("<" + address + ">");
  Unsent unsent{.message = request.message};
  curl.set(CURLOPT_URL, request.url);
  curl.set(CURLOPT_PROXY, "");
  curl.set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl.set(CURLOPT_UPLOAD, 1L);
  curl.set(CURLOPT_MAIL_FROM, "<" + request.from + ">");
  curl.set(CURLOPT_MAIL_RCPT, recipients.get());
  curl.set(CURLOPT_READFUNCTION, &give_message);
  curl.set(CURLOPT_READDATA, &unsent);
  curl.set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(request.message.size()));
  curl.set(CURLOPT_WRITEFUNCTION, &drop);
  curl.set(CURLOPT_USE_SSL,
           static_cast<long>(request.starttls == Starttls::kRequired ? CURLUSESSL_ALL
                                                                     : CURLUSESSL_NONE));
  if (!request.username.empty()) {
    curl.set(CURLOPT_USERNAME, request.username);
    curl.set(CURLOPT_PASSWORD, request.password.reveal());
  }
  curl.set_limits(request.connect_timeout_ms, request.timeout_ms, request.stop);
  curl.set_trust(request.ca_file);
  const CURLcode code = curl.perform();
  outcome.code = static_cast<int>(curl.get_long(CURLINFO_RESPONSE_CODE));
  if (code != CURLE_OK) {
    outcome.error = curl.explain(code, shown_address(request.url), request.stop);
  }
  return outcome;
}

}  // namespace everywatt::outgoing
