// SPDX-License-Identifier: Apache-2.0
#include "serve/web/web_config.h"

#include <gtest/gtest.h>

namespace everywatt::web {
namespace {

constexpr const char* kHash = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

base::Result<WebConfig> parse(const std::string& text) {
  return parse_web_config(text, "/etc/web/config.yml");
}

// "MESSAGE" or "MESSAGE | HINT", without the file's name.
std::string fault(const std::string& text) {
  const auto config = parse(text);
  if (config) return "";
  EXPECT_EQ(config.error().code, base::Code::kInvalidArgument);
  constexpr std::string_view kName = "/etc/web/config.yml:";
  EXPECT_TRUE(config.error().message.starts_with(kName));
  const std::string message = config.error().message.substr(kName.size());
  return config.error().hint.empty() ? message : message + " | " + config.error().hint;
}

std::string tls(const std::string& more) {
  return "tls_server_config:\n  cert_file: a.crt\n  key_file: /b/a.key\n" + more;
}

TEST(WebConfig, OfNothingAsksForNothing) {
  for (const char* text : {"", "---\n", "# nothing\n", "tls_server_config:\n", "{}"}) {
    const auto config = parse(text);
    ASSERT_TRUE(config) << text;
    EXPECT_FALSE(config->tls);
    EXPECT_TRUE(config->users.empty());
    EXPECT_TRUE(config->headers.empty());
    EXPECT_FALSE(config->rate_limit);
  }
}

TEST(WebConfig, TakesAllThatTheToolkitTakes) {
  const auto config = parse(
      "tls_server_config:\n"
      "  cert_file: server.crt\n"
      "  key_file: /keys/server.key\n"
      "  client_ca_file: ca/clients.crt\n"
      "  client_auth_type: RequireAndVerifyClientCert\n"
      "  client_allowed_sans: [prometheus.example, '10.0.0.1']\n"
      "  min_version: TLS11\n"
      "  max_version: TLS12\n"
      "  cipher_suites:\n"
      "    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\n"
      "  curve_preferences: [CurveP384, X25519]\n"
      "  prefer_server_cipher_suites: false\n"
      "http_server_config:\n"
      "  http2: true\n"
      "  headers:\n"
      "    X-Frame-Options: sameorigin\n"
      "    Strict-Transport-Security: max-age=31536000; includeSubDomains\n"
      "    X-XSS-Protection:\n"
      "rate_limit:\n"
      "  interval: 1m0.5s\n"
      "  burst: 7\n"
      "basic_auth_users:\n"
      "  alice: $2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG\n"
      "  4711: \"$2b$04$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG\"\n");
  ASSERT_TRUE(config) << config.error().message;
  const TlsConfig& tls = *config->tls;
  EXPECT_EQ(tls.certificate.file, "/etc/web/server.crt");
  EXPECT_EQ(tls.key.file, "/keys/server.key");
  EXPECT_EQ(tls.client_ca.file, "/etc/web/ca/clients.crt");
  EXPECT_EQ(tls.client_auth, ClientAuth::kRequireVerified);
  EXPECT_EQ(tls.client_allowed_sans, (std::vector<std::string>{"prometheus.example", "10.0.0.1"}));
  EXPECT_EQ(tls.min_version, TlsVersion::k11);
  EXPECT_EQ(tls.max_version, TlsVersion::k12);
  EXPECT_EQ(tls.cipher_suites, std::vector<std::string>{"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"});
  EXPECT_EQ(tls.curves, (std::vector<std::string>{"P-384", "X25519"}));
  EXPECT_EQ(tls.order, CipherOrder::kTheirs);
  EXPECT_EQ(config->wants_http2, true);
  ASSERT_EQ(config->headers.size(), 2U);
  EXPECT_EQ(config->headers[0].name, "X-Frame-Options");
  EXPECT_EQ(config->headers[1].value, "max-age=31536000; includeSubDomains");
  EXPECT_EQ(config->rate_limit->interval_ns, 60'500'000'000);
  EXPECT_EQ(config->rate_limit->burst, 7U);
  ASSERT_EQ(config->users.size(), 2U);
  EXPECT_EQ(config->users.at("alice"), kHash);
  EXPECT_TRUE(config->users.contains("4711"));
}

TEST(WebConfig, HasTheToolkitsDefaults) {
  const auto config = parse(tls(""));
  ASSERT_TRUE(config);
  EXPECT_EQ(config->tls->client_auth, ClientAuth::kNone);
  EXPECT_EQ(config->tls->min_version, TlsVersion::k12);
  EXPECT_EQ(config->tls->max_version, TlsVersion::k13);
  EXPECT_EQ(config->tls->order, CipherOrder::kOurs);
  EXPECT_FALSE(config->tls->client_allowed_sans);
}

TEST(WebConfig, TakesPemTextsInTheFileItself) {
  const auto config = parse(
      "tls_server_config:\n  cert: |\n    -----BEGIN\n    A\n  key: k\n  client_ca: c\n"
      "  client_auth_type: VerifyClientCertIfGiven\n");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->tls->certificate.text, "-----BEGIN\nA\n");
  EXPECT_EQ(config->tls->key.text, "k");
  EXPECT_EQ(config->tls->client_ca.text, "c");
}

TEST(WebConfig, KnowsAllKindsOfClientAuthentication) {
  const auto kind = [](const std::string& name) {
    return parse(tls("  client_auth_type: " + name + "\n"))->tls->client_auth;
  };
  EXPECT_EQ(kind("NoClientCert"), ClientAuth::kNone);
  EXPECT_EQ(kind("RequestClientCert"), ClientAuth::kRequest);
  EXPECT_EQ(kind("RequireClientCert"), ClientAuth::kRequireAny);
  EXPECT_EQ(kind("RequireAnyClientCert"), ClientAuth::kRequireAny);
  EXPECT_EQ(kind("VerifyClientCertIfGiven"), ClientAuth::kVerifyIfGiven);
  EXPECT_EQ(kind("RequireAndVerifyClientCert"), ClientAuth::kRequireVerified);
  EXPECT_EQ(fault(tls("  client_auth_type: Yes\n")),
            "4: invalid client_auth_type: 'Yes' | one of NoClientCert, RequestClientCert, "
            "RequireAnyClientCert, RequireClientCert, VerifyClientCertIfGiven, "
            "RequireAndVerifyClientCert");
}

TEST(WebConfig, NamesUnknownKeysWithTheirLines) {
  EXPECT_EQ(fault("tls_config:\n  cert_file: a\n"), "1: unknown key 'tls_config'");
  EXPECT_EQ(fault("basic_auth_user:\n"),
            "1: unknown key 'basic_auth_user' | did you mean 'basic_auth_users'?");
  EXPECT_EQ(fault(tls("  certfile: b\n")),
            "4: unknown key 'certfile' in tls_server_config | did you mean 'cert_file'?");
  EXPECT_EQ(fault("http_server_config:\n  http3: true\n"),
            "2: unknown key 'http3' in http_server_config | did you mean 'http2'?");
  EXPECT_EQ(fault("rate_limit:\n  limit: 1\n"), "2: unknown key 'limit' in rate_limit");
}

TEST(WebConfig, TellsTheFirstFaultOfTheFile) {
  EXPECT_EQ(fault("basic_auth_users:\n  a: b\ntls_server_config:\n  x: y\n"),
            "2: the password of 'a': not a bcrypt hash | make one with: htpasswd -nBC 10 \"\" | tr "
            "-d ':\\n'");
}

TEST(WebConfig, TellsWhatIsMissingForTls) {
  EXPECT_EQ(fault("tls_server_config:\n  cert_file: a\n"), "2: missing one of key or key_file");
  EXPECT_EQ(fault("tls_server_config:\n  key: a\n"), "2: missing one of cert or cert_file");
  EXPECT_EQ(fault("tls_server_config:\n  client_auth_type: NoClientCert\n"),
            "2: missing one of cert or cert_file");
  EXPECT_EQ(fault(tls("  cert: x\n")), "2: both cert and cert_file are given");
  EXPECT_EQ(fault(tls("  client_ca_file: x\n")),
            "4: a client CA without a client_auth_type | client_auth_type: "
            "RequireAndVerifyClientCert");
  EXPECT_EQ(fault(tls("  client_auth_type: VerifyClientCertIfGiven\n  client_allowed_sans: [a]\n")),
            "5: client_allowed_sans needs a client_auth_type of RequireAnyClientCert or "
            "RequireAndVerifyClientCert");
}

TEST(WebConfig, TellsUnknownVersionsCiphersAndCurves) {
  EXPECT_EQ(fault(tls("  min_version: SSL30\n")),
            "4: unknown TLS version: 'SSL30' | one of TLS10, TLS11, TLS12, TLS13");
  EXPECT_EQ(fault(tls("  min_version: TLS13\n  max_version: TLS12\n")),
            "5: min_version is above max_version");
  EXPECT_TRUE(fault(tls("  cipher_suites:\n  - TLS_RSA_WITH_RC4_128_SHA\n"))
                  .starts_with("5: unknown cipher: 'TLS_RSA_WITH_RC4_128_SHA' | one of TLS_AES_"));
  EXPECT_EQ(fault(tls("  curve_preferences: [secp256k1]\n")),
            "4: unknown curve: 'secp256k1' | one of CurveP256, CurveP384, CurveP521, X25519");
}

TEST(WebConfig, TakesTheHeaderFieldsOfTheToolkitAlone) {
  const auto with = [](const std::string& field) {
    return "http_server_config:\n  headers:\n    " + field + "\n";
  };
  EXPECT_EQ(fault(with("Server: x")),
            "3: HTTP header 'Server' can not be configured | one of Content-Security-Policy, "
            "Strict-Transport-Security, X-Content-Type-Options, X-Frame-Options, "
            "X-XSS-Protection");
  EXPECT_EQ(fault(with("X-Frame-Options: allow")),
            "3: invalid value for X-Frame-Options: 'allow' | one of deny, sameorigin");
  EXPECT_EQ(fault(with("X-Content-Type-Options: sniff")),
            "3: invalid value for X-Content-Type-Options: 'sniff' | one of nosniff");
  EXPECT_EQ(fault(with("X-XSS-Protection: \"a\\r\\nSet-Cookie: b\"")),
            "3: X-XSS-Protection: a control character");
}

TEST(WebConfig, TakesDurationsAsGoWritesThem) {
  const auto interval = [](const std::string& text) {
    return parse("rate_limit: {interval: " + text + ", burst: 1}")->rate_limit->interval_ns;
  };
  EXPECT_EQ(interval("1s"), 1'000'000'000);
  EXPECT_EQ(interval("100ms"), 100'000'000);
  EXPECT_EQ(interval("1h2m3s4ms5us6ns"), 3'723'004'005'006);
}

TEST(WebConfig, TellsWhatIsNoRateLimit) {
  EXPECT_FALSE(parse("rate_limit: {interval: 0, burst: 1}")->rate_limit);
  EXPECT_EQ(fault("rate_limit:\n  interval: 1d\n"),
            "2: interval: '1d' is not a duration such as 100ms");
  EXPECT_EQ(fault("rate_limit:\n  interval: 1s\n  burst: many\n"),
            "3: burst: 'many' is not a whole number");
}

// A user whose password is not there must not be left out in silence: there may be no other.
TEST(WebConfig, JudgesPasswordsAndShowsNone) {
  const std::string hint = " | make one with: htpasswd -nBC 10 \"\" | tr -d ':\\n'";
  EXPECT_EQ(fault("basic_auth_users:\n  a: hunter2\n"),
            "2: the password of 'a': not a bcrypt hash" + hint);
  EXPECT_EQ(fault("basic_auth_users:\n  a:\n"), "2: the password of 'a': not a bcrypt hash" + hint);
  EXPECT_EQ(fault("basic_auth_users:\n  a: $2y$10$short\n"),
            "2: the password of 'a': a bcrypt hash that is not whole" + hint);
  EXPECT_EQ(fault("basic_auth_users:\n  a: "
                  "$2y$32$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG\n"),
            "2: the password of 'a': a bcrypt hash whose cost is not 4 to 31" + hint);
}

TEST(WebConfig, TellsWhatIsOfAnotherType) {
  EXPECT_EQ(fault("- a\n"), "1: not a map of keys");
  EXPECT_EQ(fault("tls_server_config: yes\n"), "1: 'tls_server_config' must be a map of keys");
  EXPECT_EQ(fault("basic_auth_users: [a]\n"), "1: 'basic_auth_users' must be a map of keys");
  EXPECT_EQ(fault(tls("  min_version: [a]\n")), "4: 'min_version' must be a text");
  EXPECT_EQ(fault(tls("  cipher_suites: a\n")), "4: 'cipher_suites' must be a list of texts");
  EXPECT_EQ(fault("http_server_config:\n  http2: 7\n"), "2: 'http2' must be true or false");
}

TEST(WebConfig, TellsWhatIsNoYaml) {
  EXPECT_EQ(fault("a: b: c\n"), "1: not in YAML: illegal map value");
  EXPECT_EQ(fault("rate_limit:\n  burst: [1\n"), "3: not in YAML: end of sequence flow not found");
  EXPECT_EQ(fault("rate_limit:\n  burst: *secret\n"),
            "2: not in YAML: the referenced anchor is not defined");
  EXPECT_EQ(fault("rate_limit:\n  burst: 1\n  burst: 2\n"), "3: key 'burst' comes twice");
  EXPECT_EQ(fault("[a]: b\n"), "1: a key that is no text");
  EXPECT_EQ(fault(std::string(1000, '[')), "1: not in YAML: bad file");
}

TEST(WebConfig, DoesNotExpandRepetitionsForEver) {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int level = 1; level < 10; ++level) {
    const std::string before = "*a" + std::to_string(level - 1);
    text += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + before;
    for (int more = 1; more < 10; ++more)
      text += "," + before;
    text += "]\n";
  }
  EXPECT_TRUE(fault(text).ends_with(": too many values"));
}

}  // namespace
}  // namespace everywatt::web
