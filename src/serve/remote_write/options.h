// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "serve/exporter/exporter.h"
#include "serve/outgoing/http_client.h"
#include "serve/outgoing/secret.h"

namespace everywatt::remote_write {

inline constexpr std::int64_t kShortestStepNs = 100'000'000;
inline constexpr std::int64_t kLongestStepNs = 3'600'000'000'000;

// One [remote_write.NAME] of the configuration. docs/remote_write.md says what each key means.
struct Options {
  std::string name = {};  // [a-z0-9_-]{1,32}: of its folder in the queue, too
  std::string url = {};   // http:// or https://
  exporter::NameSets names = static_cast<exporter::NameSets>(exporter::Names::kNative);
  std::vector<std::string> metrics = {};  // empty: all; a name may end in '*'
  std::int64_t step_ns = 10'000'000'000;

  std::string username = {};  // basic authentication, with `password`; or else a bearer token
  outgoing::SecretSource password = {};
  outgoing::SecretSource token = {};
  std::string tenant = {};  // X-Scope-OrgID; empty: none
  std::string ca_file = {};
  std::string cert_file = {};
  std::string key_file = {};
  outgoing::TlsCheck tls_check = outgoing::TlsCheck::kFull;
  std::string proxy = {};

  // Added to each series that has no label of the name. Without `job` and `instance` among them,
  // job="everywatt" and instance="HOSTNAME" are added, as a scrape would; one with an empty value
  // is left out.
  std::vector<std::pair<std::string, std::string>> labels = {};
  std::uint64_t queue_bytes = std::uint64_t{256} << 20;

  bool operator==(const Options&) const = default;
};

// What can be told without a network or a secret. The message names the key.
base::Status check_options(const Options& options);

}  // namespace everywatt::remote_write
