// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/web/tls_config.h"

struct ssl_ctx_st;
struct ssl_st;

namespace everywatt::web {

// What TLS is spoken with: certificate, key and rules, read once. A connection keeps it for as long
// as it lasts. Belongs to one thread.
class TlsContext {
 public:
  // kInvalidArgument, kNotFound, kNoPermission: which key of the configuration, which file, and
  // what is wrong with it. Nothing of a key's text is ever in a message.
  static base::Result<std::shared_ptr<const TlsContext>> open(const TlsConfig& config);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // For one connection; whoever takes it frees it. Null: no memory.
  ssl_st* make_connection() const;
  // Whether its client has shown a certificate that was verified.
  bool has_verified_client(const ssl_st* connection) const;
  // Whether each client must show such a one.
  bool verifies_all_clients() const { return client_auth_ == ClientAuth::kRequireVerified; }
  // The certificate's end, in seconds since 1970.
  std::int64_t expires_at() const { return expires_at_; }

 private:
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}

  base::Status take_certificate(const TlsConfig& config);
  base::Status take_client_rules(const TlsConfig& config);
  base::Status take_algorithms(const TlsConfig& config);

  ssl_ctx_st* const context_;
  ClientAuth client_auth_ = ClientAuth::kNone;
  std::vector<std::string> allowed_sans_;
  bool limits_sans_ = false;
  std::int64_t expires_at_ = 0;

  friend struct ClientVerdict;
};

}  // namespace everywatt::web
