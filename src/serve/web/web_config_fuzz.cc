// SPDX-License-Identifier: Apache-2.0
#include "serve/web/web_config.h"

#include <algorithm>

#include "base/fuzz_target.h"
#include "base/text.h"
#include "serve/web/password_hash.h"

namespace everywatt::web {
namespace {

// "w.yml:LINE: ", and the line is one of the file.
void judge_message(std::string_view message, std::size_t lines) {
  CHECK(base::is_clean(message));
  constexpr std::string_view kName = "w.yml:";
  CHECK(message.starts_with(kName));
  message.remove_prefix(kName.size());
  const std::size_t colon = message.find(": ");
  CHECK(colon != std::string_view::npos);
  const auto line = base::parse_u64(message.substr(0, colon));
  CHECK(line && *line >= 1 && *line <= lines);
}

}  // namespace

// A web configuration file: what is wrong is said with its line, what is right can be worked with.
FUZZ_TARGET(web_config) {
  const auto config = parse_web_config(bytes, "w.yml");
  if (!config) {
    // YAML knows more ends of lines than one.
    const auto is_end = [](char c) { return c == '\n' || c == '\r'; };
    judge_message(config.error().message,
                  static_cast<std::size_t>(std::ranges::count_if(bytes, is_end)) + 2);
    CHECK(base::is_clean(config.error().hint));
    return;
  }
  for (const auto& [user, hash] : config->users)
    CHECK(judge_password_hash(hash).has_value());
  for (const HeaderField& field : config->headers) {
    CHECK(!field.value.empty());
    CHECK(field.value.find_first_of("\r\n") == std::string::npos);
  }
  if (config->rate_limit) CHECK(config->rate_limit->interval_ns > 0);
  if (!config->tls) return;
  CHECK(config->tls->certificate.is_set() && config->tls->key.is_set());
  CHECK(config->tls->certificate.text.empty() || config->tls->certificate.file.empty());
  CHECK(config->tls->min_version <= config->tls->max_version);
}

}  // namespace everywatt::web
