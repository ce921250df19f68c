// SPDX-License-Identifier: Apache-2.0
#include "serve/web/tls_context.h"

#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <ctime>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "serve/web/client_names.h"
#include "serve/web/openssl_objects.h"

namespace everywatt::web {
namespace {

constexpr int kVersions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION, TLS1_3_VERSION};

// A PEM text and what it is called in messages: "cert_file /a/b" or "cert".
struct Pem {
  std::string name;
  std::string text;
};

base::Result<Pem> read_pem(std::string_view key, const PemSource& source) {
  if (source.file.empty()) return Pem{.name = std::string(key), .text = source.text};
  auto text = base::read_file(source.file);
  if (!text) {
    text.error().message = fmt::format("{}_file: {}", key, text.error().message);
    return std::unexpected(std::move(text.error()));
  }
  return Pem{.name = fmt::format("{}_file {}", key, source.file), .text = *std::move(text)};
}

Bio bio_of(const std::string& text) {
  return Bio(::BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// What the library says is the reason of its first complaint.
std::unexpected<base::Error> refuse(std::string message, std::string hint = {}) {
  if (const char* reason = ::ERR_reason_error_string(::ERR_peek_error()); reason != nullptr) {
    message += fmt::format(" ({})", reason);
  }
  ::ERR_clear_error();
  return base::fail(base::Code::kInvalidArgument, std::move(message), std::move(hint));
}

// All certificates of the text.
std::vector<Certificate> read_certificates(const std::string& text) {
  const Bio bio = bio_of(text);
  std::vector<Certificate> certificates;
  while (X509* next = ::PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    certificates.emplace_back(next);
  const bool is_end = ERR_GET_REASON(::ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  if (is_end) ::ERR_clear_error();
  if (!is_end) certificates.clear();
  return certificates;
}

// A key under a password is not asked for it: there is nobody to ask.
int know_no_password(char*, int, int, void*) {
  return -1;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
  std::tm utc{};
  return ::ASN1_TIME_to_tm(time, &utc) == 1 ? ::timegm(&utc) : 0;
}

// Clients that offer HTTP/2 too are told which one is spoken.
int choose_http11(SSL*, const unsigned char** chosen, unsigned char* chosen_size,
                  const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr unsigned char kHttp11[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  const int result = ::SSL_select_next_proto(&found, chosen_size, kHttp11, sizeof(kHttp11) - 1,
                                             offered, offered_size);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

// In place of the library's own verdict on a client's certificate.
struct ClientVerdict {
  static int judge(X509_STORE_CTX* store, void* argument) {
    const auto& context = *static_cast<const TlsContext*>(argument);
    const bool is_verified = context.client_auth_ == ClientAuth::kVerifyIfGiven ||
                             context.client_auth_ == ClientAuth::kRequireVerified;
    if (is_verified && ::X509_verify_cert(store) != 1) return 0;
    if (!context.limits_sans_) return 1;
    if (has_one_of_names(::X509_STORE_CTX_get0_cert(store), context.allowed_sans_)) return 1;
    ::X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
    return 0;
  }
};

base::Result<std::shared_ptr<const TlsContext>> TlsContext::open(const TlsConfig& config) {
  ::ERR_clear_error();
  SSL_CTX* made = ::SSL_CTX_new(::TLS_server_method());
  if (made == nullptr) return refuse("TLS cannot be started");
  std::shared_ptr<TlsContext> context(new TlsContext(made));
  // A session that is taken up again would not be judged by rules that changed meanwhile.
  ::SSL_CTX_set_options(made, SSL_OP_NO_TICKET | SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                  SSL_OP_IGNORE_UNEXPECTED_EOF);
  ::SSL_CTX_set_session_cache_mode(made, SSL_SESS_CACHE_OFF);
  ::SSL_CTX_set_num_tickets(made, 0);
  ::SSL_CTX_set_mode(made, SSL_MODE_RELEASE_BUFFERS);
  ::SSL_CTX_set_alpn_select_cb(made, choose_http11, nullptr);
  for (const auto take : {&TlsContext::take_algorithms, &TlsContext::take_certificate,
                          &TlsContext::take_client_rules}) {
    if (auto taken = ((*context).*take)(config); !taken) return std::unexpected(taken.error());
  }
  ::ERR_clear_error();
  return context;
}

TlsContext::~TlsContext() {
  ::SSL_CTX_free(context_);
}

base::Status TlsContext::take_certificate(const TlsConfig& config) {
  const auto certificate = read_pem("cert", config.certificate);
  if (!certificate) return std::unexpected(certificate.error());
  const auto key = read_pem("key", config.key);
  if (!key) return std::unexpected(key.error());
  const auto chain = read_certificates(certificate->text);
  if (chain.empty()) {
    return refuse(fmt::format("{}: no certificate in PEM", certificate->name));
  }
  if (::SSL_CTX_use_certificate(context_, chain.front().get()) != 1) {
    return refuse(fmt::format("{}: a certificate that cannot be used", certificate->name));
  }
  for (std::size_t i = 1; i < chain.size(); ++i)
    ::SSL_CTX_add1_chain_cert(context_, chain[i].get());
  const Bio bio = bio_of(key->text);
  const Key read(::PEM_read_bio_PrivateKey(bio.get(), nullptr, know_no_password, nullptr));
  if (read == nullptr) {
    return refuse(fmt::format("{}: no private key in PEM without a password", key->name));
  }
  if (::SSL_CTX_use_PrivateKey(context_, read.get()) != 1 ||
      ::SSL_CTX_check_private_key(context_) != 1) {
    ::ERR_clear_error();
    return refuse(fmt::format("{}: not the key of {}", key->name, certificate->name));
  }
  expires_at_ = seconds_of(::X509_get0_notAfter(chain.front().get()));
  return {};
}

base::Status TlsContext::take_client_rules(const TlsConfig& config) {
  client_auth_ = config.client_auth;
  limits_sans_ = config.client_allowed_sans.has_value();
  if (limits_sans_) allowed_sans_ = *config.client_allowed_sans;
  if (client_auth_ == ClientAuth::kNone) return {};
  const bool must_have_one =
      client_auth_ == ClientAuth::kRequireAny || client_auth_ == ClientAuth::kRequireVerified;
  ::SSL_CTX_set_verify(
      context_, SSL_VERIFY_PEER | (must_have_one ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  ::SSL_CTX_set_cert_verify_callback(context_, &ClientVerdict::judge, this);
  if (!config.client_ca.is_set()) {
    ::SSL_CTX_set_default_verify_paths(context_);  // the machine's, as for the toolkit
    return {};
  }
  const auto pem = read_pem("client_ca", config.client_ca);
  if (!pem) return std::unexpected(pem.error());
  const auto certificates = read_certificates(pem->text);
  if (certificates.empty()) return refuse(fmt::format("{}: no certificate in PEM", pem->name));
  for (const Certificate& certificate : certificates) {
    ::X509_STORE_add_cert(::SSL_CTX_get_cert_store(context_), certificate.get());
    ::SSL_CTX_add_client_CA(context_, certificate.get());
  }
  return {};
}

base::Status TlsContext::take_algorithms(const TlsConfig& config) {
  ::SSL_CTX_set_min_proto_version(context_, kVersions[static_cast<int>(config.min_version)]);
  ::SSL_CTX_set_max_proto_version(context_, kVersions[static_cast<int>(config.max_version)]);
  // The old versions are there on this level alone.
  if (config.min_version < TlsVersion::k12) ::SSL_CTX_set_security_level(context_, 0);
  if (config.order == CipherOrder::kOurs) {
    ::SSL_CTX_set_options(context_, SSL_OP_CIPHER_SERVER_PREFERENCE);
  }
  std::string ciphers;
  for (const std::string& name : config.cipher_suites) {
    // As for the toolkit, those of TLS 1.3 are always there.
    if (const char* openssl = ::OPENSSL_cipher_name(name.c_str());
        !std::string_view(openssl).starts_with("TLS_")) {
      ciphers += (ciphers.empty() ? "" : ":") + std::string(openssl);
    }
  }
  if (!ciphers.empty() && ::SSL_CTX_set_cipher_list(context_, ciphers.c_str()) != 1) {
    return refuse("cipher_suites: none that this machine has");
  }
  std::string curves;
  for (const std::string& curve : config.curves)
    curves += (curves.empty() ? "" : ":") + curve;
  if (!curves.empty() && ::SSL_CTX_set1_groups_list(context_, curves.c_str()) != 1) {
    return refuse("curve_preferences: one that this machine does not have");
  }
  return {};
}

ssl_st* TlsContext::make_connection() const {
  return ::SSL_new(context_);
}

bool TlsContext::has_verified_client(const ssl_st* connection) const {
  const bool verifies =
      client_auth_ == ClientAuth::kVerifyIfGiven || client_auth_ == ClientAuth::kRequireVerified;
  return verifies && ::SSL_get0_peer_certificate(connection) != nullptr;
}

}  // namespace everywatt::web
