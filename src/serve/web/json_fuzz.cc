// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "base/fuzz_target.h"
#include "serve/web/gpus_json.h"
#include "serve/web/series_json.h"
#include "serve/web/target.h"
#include "serve/web/web_fuzz_fixture.h"

namespace everywatt::web {
namespace {

void answer_all(const view::View& view) {
  static const GpusQuery query = *parse_gpus_query(*parse_target("/api/v1/gpus"));
  judge_body<nlohmann::json>(kJson, format_gpus(view, query, "note"));
  for (const char* target : {"/api/v1/series?metric=gpu_power_watts&gpu=0&step=0",
                             "/api/v1/series?metric=gpu_energy_joules_total&gpu=0&since=1d",
                             "/api/v1/series?metric=host_memory_total_bytes&since=10000d&step=1ms",
                             "/api/v1/series?metric=gpu_clock_event_reasons_mask&gpu=0&step=7s"}) {
    const auto text = answer_series(view, *parse_target(target), "note");
    if (text) {
      judge_body<nlohmann::json>(kJson, *text);
    } else {
      CHECK(base::is_utf8(text.error().message));
    }
  }
}

}  // namespace

// What the API answers of a file that is not to be trusted is still JSON.
FUZZ_TARGET(json) {
  view::use_hostile_views(bytes, answer_all);
}

}  // namespace everywatt::web
