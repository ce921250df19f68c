// SPDX-License-Identifier: Apache-2.0
#include "serve/web/series_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "catalog/glossary.h"
#include "read/view/device.h"
#include "read/view/series.h"
#include "serve/web/value_json.h"

namespace everywatt::web {
namespace {

using base::Code;
using base::fail;
using catalog::Lane;
using catalog::MetricId;
using nlohmann::ordered_json;

constexpr std::int64_t kDefaultSinceNs = 300'000'000'000;
constexpr std::int64_t kDefaultStepNs = 1'000'000'000;
constexpr std::int64_t kShortestStepNs = 1'000'000;
// As many as Prometheus gives for one series; 15 minutes of gauges are 9000.
constexpr std::size_t kMostPoints = 11'000;
constexpr std::size_t kShownBytes = 80;

struct Question {
  MetricId id{};
  unsigned instance = 0;
  std::uint32_t slot = 0;
  std::string uuid;
  view::SeriesOptions options;
};

base::Result<std::int64_t> parse_duration(const Target& target, std::string_view name,
                                          std::int64_t otherwise_ns) {
  const std::string* text = target.find(name);
  if (text == nullptr) return otherwise_ns;
  const auto duration = base::parse_duration_ns(*text);
  if (duration) return *duration;
  return fail(Code::kInvalidArgument, fmt::format("{} is a duration such as 10m or 0.5s, not '{}'",
                                                  name, base::clean_text(*text, kShownBytes)));
}

base::Result<MetricId> parse_metric(const Target& target) {
  const std::string* name = target.find("metric");
  if (name == nullptr) return fail(Code::kInvalidArgument, "metric is missing");
  const auto id = catalog::find_metric(*name);
  if (!id) return std::unexpected(id.error());
  const catalog::Metric& metric = catalog::metric(*id);
  if (metric.scope != catalog::Scope::kGpu && metric.scope != catalog::Scope::kNode) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} is neither of a GPU nor of the machine", metric.name));
  }
  const bool is_listed = metric.lane == Lane::kProcess || metric.lane == Lane::kEvent ||
                         metric.lane == Lane::kIdentity || metric.lane == Lane::kHostProcess;
  if (is_listed || metric.type == catalog::Type::kText) {
    return fail(Code::kInvalidArgument, fmt::format("{} is no series of numbers", metric.name));
  }
  return *id;
}

base::Result<unsigned> parse_instance(const Target& target, MetricId id) {
  const catalog::Metric& metric = catalog::metric(id);
  const std::string* name = target.find("instance");
  if (name == nullptr) return 0U;
  for (unsigned instance = 0; metric.instances > 1 && instance < metric.instances; ++instance) {
    if (catalog::instance_name(id, instance) == *name) return instance;
  }
  return fail(Code::kInvalidArgument, fmt::format("{} has no instance '{}'", metric.name,
                                                  base::clean_text(*name, kShownBytes)));
}

base::Status find_device(const view::View& view, const Target& target, Question& question) {
  if (catalog::metric(question.id).scope == catalog::Scope::kNode) {
    const auto node = view::node(view);
    if (!node) return fail(Code::kNotFound, "the recorder has no machine");
    question.slot = *node;
    return {};
  }
  const std::vector<view::Device> gpus = view::gpus(view);
  const std::string* name = target.find("gpu");
  if (name == nullptr && gpus.size() != 1) {
    return fail(Code::kInvalidArgument, fmt::format("gpu is missing: there are {}", gpus.size()));
  }
  const auto gpu =
      name == nullptr ? base::Result<view::Device>(gpus.front()) : view::find_gpu(gpus, *name);
  if (!gpu) return std::unexpected(gpu.error());
  question.slot = gpu->slot;
  question.uuid = gpu->uuid;
  return {};
}

base::Result<Question> parse_question(const view::View& view, const Target& target) {
  constexpr std::array<std::string_view, 5> kKnown = {"metric", "gpu", "instance", "since", "step"};
  if (auto checked = check_parameters(target, kKnown); !checked) {
    return std::unexpected(checked.error());
  }
  Question question;
  const auto id = parse_metric(target);
  if (!id) return std::unexpected(id.error());
  question.id = *id;
  const auto instance = parse_instance(target, *id);
  if (!instance) return std::unexpected(instance.error());
  question.instance = *instance;
  if (auto found = find_device(view, target, question); !found) {
    return std::unexpected(found.error());
  }
  const auto since = parse_duration(target, "since", kDefaultSinceNs);
  if (!since) return std::unexpected(since.error());
  const auto step = parse_duration(target, "step", kDefaultStepNs);
  if (!step) return std::unexpected(step.error());
  if (*step != 0 && *step < kShortestStepNs) {
    return fail(Code::kInvalidArgument, "step is 0 or at least 1ms");
  }
  const std::int64_t now_ns = view.now_ns();
  question.options.from_ns = now_ns - std::min(*since, now_ns);
  question.options.to_ns = now_ns;
  question.options.step_ns = *step;
  // Steps end on people's whole seconds.
  if (*step != 0) question.options.origin_ns = -(view.wall_ns(0) % *step);
  return question;
}

ordered_json point_json(const view::View& view, const Question& question,
                        const view::Point& point) {
  const double time = static_cast<double>(view.wall_ns(point.time_ns)) / 1e9;
  if (!point.is_ok()) return {time, nullptr, catalog::state_name(point.state)};
  if (question.options.step_ns == 0) {
    return {time, exact_value<ordered_json>(catalog::metric(question.id).type, point.bits)};
  }
  return {time, point.value};
}

}  // namespace

base::Result<std::string> answer_series(const view::View& view, const Target& target,
                                        const std::string& note) {
  const auto question = parse_question(view, target);
  if (!question) return std::unexpected(question.error());
  const view::Handle handle = view.handle(question->slot, question->id, question->instance);
  const view::Series series = view::read_series(view, handle, question->options);
  if (series.points.size() > kMostPoints) {
    return fail(Code::kInvalidArgument,
                fmt::format("{} points are too many: ask for a longer step or a shorter time",
                            series.points.size()));
  }
  const catalog::Metric& metric = catalog::metric(question->id);
  ordered_json json;
  json["metric"] = metric.name;
  if (metric.unit != catalog::Unit::kNone) json["unit"] = catalog::unit_name(metric.unit);
  json["kind"] = catalog::kind_name(metric.kind);
  if (metric.instances > 1) {
    json[std::string(metric.instance_label)] =
        catalog::instance_name(question->id, question->instance);
  }
  if (!question->uuid.empty()) json["uuid"] = base::clean_text(question->uuid, kShownBytes);
  json["note"] = note;
  json["step_seconds"] = static_cast<double>(question->options.step_ns) / 1e9;
  json["reaches_back_to"] = nullptr;
  if (series.reaches_back_to_ns != 0) {
    json["reaches_back_to"] = static_cast<double>(view.wall_ns(series.reaches_back_to_ns)) / 1e9;
  }
  ordered_json& points = json["points"] = ordered_json::array();
  for (const view::Point& point : series.points) {
    points.push_back(point_json(view, *question, point));
  }
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

}  // namespace everywatt::web
