// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fuzz_target.h"
#include "serve/web/host_name.h"
#include "serve/web/web_fuzz_fixture.h"

namespace everywatt::web {
namespace {

constexpr std::array<unsigned, 6> kStatuses = {200, 400, 404, 405, 421, 503};

void ask(std::string target) {
  Request request;
  request.target = std::move(target);
  request.host = "localhost";
  request.host_fields = 1;
  const Response response = router_of_all().answer(request);
  CHECK(std::ranges::find(kStatuses, response.status) != kStatuses.end());
  judge_body<nlohmann::json>(response.content_type, response.body.bytes);
}

}  // namespace

// The bytes as a whole target, and as the parameters of each path that takes some.
FUZZ_TARGET(query) {
  const std::string text(bytes);
  ask(text);
  for (const char* path : {"/metrics?", "/api/v1/gpus?", "/api/v1/series?",
                           "/api/v1/series?metric=gpu_power_watts&gpu=0&"}) {
    ask(path + text);
  }
  // A Host that is let in has no letters that mean something in a line of a header or of a page.
  static const std::array<std::string, 1> names = {"gpu1"};
  if (is_allowed_host(bytes, names)) {
    CHECK(base::is_clean(bytes));
    CHECK(bytes.find_first_of(" /\\<>\"'@") == std::string_view::npos);
  }
}

}  // namespace everywatt::web
