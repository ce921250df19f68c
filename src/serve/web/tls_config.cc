// SPDX-License-Identifier: Apache-2.0
#include "serve/web/tls_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

namespace everywatt::web {
namespace {

struct ClientAuthName {
  std::string_view name;
  ClientAuth kind;
};
constexpr auto kClientAuths = std::to_array<ClientAuthName>({
    {"NoClientCert", ClientAuth::kNone},
    {"RequestClientCert", ClientAuth::kRequest},
    {"RequireAnyClientCert", ClientAuth::kRequireAny},
    {"RequireClientCert", ClientAuth::kRequireAny},  // its older name
    {"VerifyClientCertIfGiven", ClientAuth::kVerifyIfGiven},
    {"RequireAndVerifyClientCert", ClientAuth::kRequireVerified},
});

constexpr auto kVersions = std::to_array<std::string_view>({"TLS10", "TLS11", "TLS12", "TLS13"});

struct CurveName {
  std::string_view name;
  std::string_view openssl;
};
constexpr auto kCurves = std::to_array<CurveName>(
    {{"CurveP256", "P-256"}, {"CurveP384", "P-384"}, {"CurveP521", "P-521"}, {"X25519", "X25519"}});

// What Go's crypto/tls holds to be secure.
constexpr auto kCiphers = std::to_array<std::string_view>({
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
});

void read_versions(YamlReading& yaml, const YamlNode& map, TlsConfig& tls) {
  const auto read = [&](std::string_view key, TlsVersion& version) {
    const auto text = yaml.text(map, key);
    if (!text) return;
    const auto found = std::ranges::find(kVersions, text->value);
    if (found == kVersions.end()) {
      yaml.complain(text->line, fmt::format("unknown TLS version: {}", shown(text->value)),
                    list_names(kVersions));
      return;
    }
    version = static_cast<TlsVersion>(found - kVersions.begin());
  };
  read("min_version", tls.min_version);
  read("max_version", tls.max_version);
  if (tls.min_version > tls.max_version) {
    yaml.complain(line_of(map, {"max_version", "min_version"}), "min_version is above max_version");
  }
}

void read_ciphers(YamlReading& yaml, const YamlNode& map, TlsConfig& tls) {
  for (const YamlText& cipher :
       yaml.texts(map, "cipher_suites").value_or(std::vector<YamlText>{})) {
    if (std::ranges::find(kCiphers, cipher.value) == kCiphers.end()) {
      yaml.complain(cipher.line, fmt::format("unknown cipher: {}", shown(cipher.value)),
                    list_names(kCiphers));
    }
    tls.cipher_suites.push_back(cipher.value);
  }
  for (const YamlText& curve :
       yaml.texts(map, "curve_preferences").value_or(std::vector<YamlText>{})) {
    const auto found = std::ranges::find(kCurves, curve.value, &CurveName::name);
    if (found == kCurves.end()) {
      yaml.complain(curve.line, fmt::format("unknown curve: {}", shown(curve.value)),
                    list_names(kCurves, [](const CurveName& c) { return c.name; }));
      continue;
    }
    tls.curves.emplace_back(found->openssl);
  }
  if (const auto prefer = yaml.boolean(map, "prefer_server_cipher_suites")) {
    tls.order = *prefer ? CipherOrder::kOurs : CipherOrder::kTheirs;
  }
}

void read_pem(YamlReading& yaml, const YamlNode& map, std::string_view key, PemSource& source) {
  const std::string file_key = fmt::format("{}_file", key);
  if (const auto text = yaml.text(map, key)) source.text = text->value;
  if (const auto file = yaml.text(map, file_key); file && !file->value.empty()) {
    const std::filesystem::path folder = std::filesystem::path(yaml.name()).parent_path();
    source.file = (folder / file->value).string();
  }
  if (!source.text.empty() && !source.file.empty()) {
    yaml.complain(line_of(map, {file_key}), fmt::format("both {} and {} are given", key, file_key));
  }
}

void judge_client_auth(YamlReading& yaml, const YamlNode& map, const TlsConfig& tls) {
  if (tls.client_ca.is_set() && tls.client_auth == ClientAuth::kNone) {
    yaml.complain(line_of(map, {"client_ca_file", "client_ca"}),
                  "a client CA without a client_auth_type",
                  "client_auth_type: RequireAndVerifyClientCert");
  }
  const bool must_have_one =
      tls.client_auth == ClientAuth::kRequireAny || tls.client_auth == ClientAuth::kRequireVerified;
  if (tls.client_allowed_sans && !must_have_one) {
    yaml.complain(line_of(map, {"client_allowed_sans"}),
                  "client_allowed_sans needs a client_auth_type of RequireAnyClientCert or "
                  "RequireAndVerifyClientCert");
  }
}

}  // namespace

std::optional<TlsConfig> read_tls(YamlReading& yaml, const YamlNode& map) {
  yaml.judge_keys(map, "tls_server_config",
                  {"cert", "key", "client_ca", "cert_file", "key_file", "client_auth_type",
                   "client_ca_file", "cipher_suites", "curve_preferences", "min_version",
                   "max_version", "prefer_server_cipher_suites", "client_allowed_sans"});
  TlsConfig tls;
  read_pem(yaml, map, "cert", tls.certificate);
  read_pem(yaml, map, "key", tls.key);
  read_pem(yaml, map, "client_ca", tls.client_ca);
  bool has_client_auth = false;
  if (const auto auth = yaml.text(map, "client_auth_type"); auth && !auth->value.empty()) {
    has_client_auth = true;
    const auto found = std::ranges::find(kClientAuths, auth->value, &ClientAuthName::name);
    if (found == kClientAuths.end()) {
      yaml.complain(auth->line, fmt::format("invalid client_auth_type: {}", shown(auth->value)),
                    list_names(kClientAuths, [](const auto& c) { return c.name; }));
      return std::nullopt;
    }
    tls.client_auth = found->kind;
  }
  if (const auto sans = yaml.texts(map, "client_allowed_sans")) {
    tls.client_allowed_sans.emplace();
    for (const YamlText& san : *sans)
      tls.client_allowed_sans->push_back(san.value);
  }
  read_versions(yaml, map, tls);
  read_ciphers(yaml, map, tls);
  // Versions and suites alone switch nothing on.
  if (!tls.certificate.is_set() && !tls.key.is_set() && !tls.client_ca.is_set() &&
      !has_client_auth) {
    return std::nullopt;
  }
  if (!tls.certificate.is_set()) yaml.complain(map.line, "missing one of cert or cert_file");
  if (!tls.key.is_set()) yaml.complain(map.line, "missing one of key or key_file");
  judge_client_auth(yaml, map, tls);
  return tls;
}

}  // namespace everywatt::web
