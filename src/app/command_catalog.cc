// SPDX-License-Identifier: Apache-2.0
#include "app/commands.h"
#include "app/json_text.h"
#include "app/messages.h"
#include "app/output.h"
#include "app/table.h"
#include "catalog/catalog.h"

namespace everywatt::app {
namespace {

void append_optional(JsonText& json, std::string_view key, std::string_view text) {
  if (!text.empty()) json.key(key).string(text);
}

std::string format_json(Language language) {
  const bool is_chinese = language == Language::kZh;
  JsonText json;
  json.begin_array();
  for (const catalog::Metric& metric : catalog::metrics()) {
    json.begin_object();
    json.key("name").string(metric.name);
    json.key("scope").string(catalog::scope_name(metric.scope));
    json.key("lane").string(catalog::lane_name(metric.lane));
    json.key("kind").string(catalog::kind_name(metric.kind));
    json.key("type").string(catalog::type_name(metric.type));
    append_optional(json, "unit", catalog::unit_name(metric.unit));
    json.key("instances").number(metric.instances);
    append_optional(json, "instance_label", metric.instance_label);
    if (metric.period_ms > 0) json.key("period_seconds").number(metric.period_ms / 1e3);
    if (metric.range.low > catalog::Range{}.low) json.key("low").number(metric.range.low);
    if (metric.range.high < catalog::Range{}.high) json.key("high").number(metric.range.high);
    if (metric.resolution > 0) json.key("resolution").number(metric.resolution);
    append_optional(json, "dcgm", metric.dcgm);
    if (metric.dcgm_id > 0) json.key("dcgm_id").number(metric.dcgm_id);
    append_optional(json, "nvidia_smi", metric.smi);
    json.key("meaning").string(is_chinese ? metric.zh : metric.en);
    append_optional(json, "missing", is_chinese ? metric.missing_zh : metric.missing_en);
    json.end_object();
  }
  json.end_array();
  return json.take() + "\n";
}

std::string format_table(Language language) {
  Table table({{say(language, Message::heading_metric)},
               {say(language, Message::heading_unit)},
               {say(language, Message::heading_kind)},
               {say(language, Message::heading_lane)},
               {say(language, Message::heading_meaning)}});
  for (const catalog::Metric& metric : catalog::metrics()) {
    table.add({std::string(metric.name), std::string(catalog::unit_name(metric.unit)),
               std::string(catalog::kind_name(metric.kind)),
               std::string(catalog::lane_name(metric.lane)),
               std::string(language == Language::kZh ? metric.zh : metric.en)});
  }
  return table.format(stdout_emphasis());
}

}  // namespace

base::Result<ExitCode> run_catalog(const Arguments& arguments) {
  switch (arguments.form) {
    case OutputForm::kMarkdown:
      print(catalog::format_markdown());
      break;
    case OutputForm::kJson:
      print(format_json(arguments.language));
      break;
    case OutputForm::kText:
      print(format_table(arguments.language));
      break;
  }
  return kFine;
}

}  // namespace everywatt::app
