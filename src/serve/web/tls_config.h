// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/web/yaml_reading.h"

namespace everywatt::web {

enum class ClientAuth : std::uint8_t {
  kNone,             // NoClientCert
  kRequest,          // RequestClientCert: asked for, and not looked at
  kRequireAny,       // RequireAnyClientCert: must have one, of anybody
  kVerifyIfGiven,    // VerifyClientCertIfGiven
  kRequireVerified,  // RequireAndVerifyClientCert
};

enum class TlsVersion : std::uint8_t { k10, k11, k12, k13 };
enum class CipherOrder : std::uint8_t { kOurs, kTheirs };

// A PEM text in the file itself, or the name of a file that holds one. At most one of them.
struct PemSource {
  std::string text = {};
  std::string file = {};
  bool is_set() const { return !text.empty() || !file.empty(); }
};

struct TlsConfig {
  PemSource certificate = {};
  PemSource key = {};
  PemSource client_ca = {};
  ClientAuth client_auth = ClientAuth::kNone;
  std::optional<std::vector<std::string>> client_allowed_sans = {};
  TlsVersion min_version = TlsVersion::k12;
  TlsVersion max_version = TlsVersion::k13;
  std::vector<std::string> cipher_suites = {};  // IANA's names; empty: the library's choice
  std::vector<std::string> curves = {};         // OpenSSL's names; empty: the library's choice
  CipherOrder order = CipherOrder::kOurs;
};

// What tls_server_config says. Nothing: it does not ask for TLS.
std::optional<TlsConfig> read_tls(YamlReading& yaml, const YamlNode& map);

}  // namespace everywatt::web
