// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string>

#include "base/fuzz_target.h"
#include "serve/notify/body_template.h"
#include "serve/notify/payload.h"

namespace everywatt::notify {

// A template, and below a line "--" a notification to fill it with.
FUZZ_TARGET(body_template) {
  base::FuzzInput input(bytes);
  const std::string_view text = input.part();
  const auto parsed = BodyTemplate::parse(text);
  if (!parsed) {
    CHECK(base::is_clean(parsed.error().message));
    return;
  }
  const auto notification = parse_payload(input.rest());
  if (!notification) return;
  const ChannelOptions options{.name = "ops"};
  const std::string body = parsed->render(*notification, options, Escaping::kJson);
  if (base::is_utf8(text)) {
    CHECK(base::is_utf8(body));
  }
  // Values cannot end the string that they stand in.
  const auto title = BodyTemplate::parse("{\"title\":\"{{ title 40 }}\",\"text\":\"{{ text }}\"}");
  CHECK(title && nlohmann::json::accept(title->render(*notification, options, Escaping::kJson)));
}

}  // namespace everywatt::notify
