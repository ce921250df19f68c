// SPDX-License-Identifier: Apache-2.0
#include "serve/web/tokens.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <charconv>
#include <optional>

#include "base/text.h"

namespace everywatt::web {
namespace {

constexpr std::string_view kHashed = "sha256:";

std::optional<Sha256> parse_hex(std::string_view hex) {
  Sha256 bytes{};
  if (hex.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char* const first = hex.data() + 2 * i;
    if (std::from_chars(first, first + 2, bytes[i], 16).ptr != first + 2) return std::nullopt;
  }
  return bytes;
}

}  // namespace

Sha256 compute_sha256(std::string_view bytes) {
  Sha256 hash{};
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash.data());
  return hash;
}

base::Result<Tokens> parse_tokens(std::string_view text, const std::string& name) {
  Tokens tokens;
  std::size_t number = 0;
  for (std::string_view line : base::split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t comment = line.find('#');
    const auto words = base::split_words(line.substr(0, comment));
    if (words.empty()) continue;
    const auto complain = [&](std::string_view what) {
      return base::fail(base::Code::kInvalidArgument, fmt::format("{}:{}: {}", name, number, what),
                        "a line is TOKEN, NAME TOKEN, or either with sha256:HEX for the token");
    };
    if (words.size() > 2) return complain("more than a name and a token");
    const std::string_view token = words.back();
    if (!token.starts_with(kHashed)) {
      tokens.push_back(compute_sha256(token));
      continue;
    }
    const auto hash = parse_hex(token.substr(kHashed.size()));
    if (!hash) return complain("sha256: wants 64 hexadecimal digits");
    tokens.push_back(*hash);
  }
  if (tokens.empty()) {
    return base::fail(base::Code::kInvalidArgument, fmt::format("{}: no token in it", name),
                      "write one a line; a good one comes from: openssl rand -hex 32");
  }
  return tokens;
}

bool is_one_of(const Tokens& tokens, std::string_view token) {
  const Sha256 hash = compute_sha256(token);
  int found = 0;
  for (const Sha256& known : tokens)
    found |= static_cast<int>(::CRYPTO_memcmp(known.data(), hash.data(), hash.size()) == 0);
  return found != 0;
}

}  // namespace everywatt::web
