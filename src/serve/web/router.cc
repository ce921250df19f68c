// SPDX-License-Identifier: Apache-2.0
#include "serve/web/router.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "read/view/device.h"
#include "read/view/readiness.h"
#include "serve/web/gpus_json.h"
#include "serve/web/host_name.h"
#include "serve/web/page_files.h"
#include "serve/web/receiver.h"
#include "serve/web/series_json.h"

namespace everywatt::web {
namespace {

constexpr std::string_view kExposition = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kOpenMetrics =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";
constexpr std::size_t kWorthPacking = 1024;  // bytes; less fits a packet anyway

std::string in_one_line(const base::Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{}: {}", error.message, error.hint);
}

Response not_allowed() {
  Response response = text_response(405, "only GET and HEAD");
  response.allow = "GET, HEAD";
  return response;
}

BodyCache::Encoding encoding_for(const Request& request) {
  return accepts_gzip(request.accept_encoding) ? BodyCache::Encoding::kGzip
                                               : BodyCache::Encoding::kPlain;
}

Response with_body(BodyCache::Bytes bytes, BodyCache::Encoding encoding) {
  Response response;
  response.body = Body::of(std::move(bytes));
  if (encoding == BodyCache::Encoding::kGzip) response.content_encoding = "gzip";
  response.vary = "Accept-Encoding";
  return response;
}

// What was let go of on request is no fault, but who looks for its readings is told.
std::string drained_lines(const view::View& view) {
  std::string lines;
  for (const view::Device& gpu : view::gpus(view)) {
    if (gpu.status == view::DeviceStatus::kDrained && !gpu.is_mig()) {
      lines += fmt::format("\n{}: {}", gpu.label(), view::status_name(gpu.status));
    }
  }
  return lines;
}

Response page_response(const PageFile& file) {
  Response response;
  response.content_type = file.content_type;
  response.body = Body::of_constant(file.bytes);
  response.cache_control = "no-cache";
  response.content_security_policy = kPagePolicy;
  return response;
}

}  // namespace

Router::Router(RouterOptions options) : options_(std::move(options)), live_(options_.view) {}

Response Router::answer(const Request& request) {
  const auto target = parse_target(request.target);
  const bool needs_host = request.version == Version::kHttp11;
  if (request.host_fields > 1 || (needs_host && request.host_fields == 0)) {
    return text_response(400, "a request has one Host");
  }
  const bool is_for_us =
      (request.host_fields == 0 || is_allowed_host(request.host, options_.host_names)) &&
      (!target || !target->host || is_allowed_host(*target->host, options_.host_names));
  if (!is_for_us) {
    return text_response(
        421, "this Host is neither an address nor a configured name (serve.host_names)");
  }
  // Before what is asked for, which CONNECT and OPTIONS write in ways of their own.
  if (request.method == Method::kOther) return not_allowed();
  if (target && answer_channel_ && target->path.starts_with(kReceiverPath)) {
    return answer_channel_(std::string_view(target->path).substr(kReceiverPath.size()), request);
  }
  if (request.method == Method::kPost) return not_allowed();
  if (!target) return text_response(400, target.error().message);
  return answer_path(*target, request);
}

Response Router::answer_path(const Target& target, const Request& request) {
  if (target.path == "/metrics") return answer_metrics(target, request);
  if (target.path == "/healthz") return answer_alive();
  if (target.path == "/readyz") return answer_ready();
  if (target.path == "/api/v1/gpus") return answer_gpus(target, request);
  if (target.path == "/api/v1/series") return answer_series_request(target, request);
  const auto file = std::ranges::find(page_files(), std::string_view(target.path), &PageFile::path);
  if (file != page_files().end()) return page_response(*file);
  if (target.path.starts_with("/api/")) return json_error(404, "no such path");
  return text_response(404,
                       "no such path: there are /, /metrics, /healthz, /readyz, /api/v1/gpus, "
                       "/api/v1/series");
}

Response Router::answer_metrics(const Target& target, const Request& request) {
  const view::View* view = live_.get();
  const auto query = parse_metrics_query(target, request.accept, options_.metrics, view);
  if (!query) return text_response(400, in_one_line(query.error()));
  const auto make = [&](std::string& text) { write_metrics(view, *query, text); };
  Response response;
  if (view == nullptr) {
    std::string text;
    make(text);
    response.body = Body::of(std::move(text));
  } else {
    const auto encoding = encoding_for(request);
    response = with_body(cache_.get(query->key(), ticks_.read(*view, live_.generation()),
                                    view->now_ns(), encoding, make),
                         encoding);
  }
  response.content_type =
      query->format == exporter::Format::kOpenMetrics ? kOpenMetrics : kExposition;
  response.vary = "Accept, Accept-Encoding";
  return response;
}

void Router::write_metrics(const view::View* view, const MetricsQuery& query, std::string& text) {
  text.clear();
  exporter::Exposition out(text, query.format);
  out.set_filter(query.metrics);
  if (view != nullptr) options_.encode(*view, query.wish, out);
  if (exporter::has(query.wish.names, exporter::Names::kSelf)) {
    // The one metric that is there without a recorder.
    out.begin_family("everywatt_recorder_readable", "gauge",
                     "1: the server reads the recorder file.");
    out.sample().value(std::uint64_t{view != nullptr ? 1U : 0U});
    for (const AppendMetrics& append : append_more_)
      append(out);
  }
  if (!options_.note.empty()) out.remark(options_.note);
  out.end();
}

Response Router::answer_gpus(const Target& target, const Request& request) {
  const auto query = parse_gpus_query(target);
  if (!query) return json_error(400, query.error().message);
  const view::View* view = live_.get();
  if (view == nullptr) return json_error(503, in_one_line(live_.error()));
  std::string key = "gpus";
  for (const Parameter& parameter : target.parameters) {
    key += fmt::format(" {}={}", parameter.name, parameter.value);
  }
  const auto encoding = encoding_for(request);
  Response response = with_body(
      cache_.get(key, ticks_.read(*view, live_.generation()), view->now_ns(), encoding,
                 [&](std::string& text) { text = format_gpus(*view, *query, options_.note); }),
      encoding);
  response.content_type = kJson;
  return response;
}

Response Router::answer_series_request(const Target& target, const Request& request) {
  const view::View* view = live_.get();
  if (view == nullptr) return json_error(503, in_one_line(live_.error()));
  auto text = answer_series(*view, target, options_.note);
  if (!text) return json_error(400, text.error().message);
  Response response;
  response.content_type = kJson;
  response.vary = "Accept-Encoding";
  if (text->size() >= kWorthPacking && accepts_gzip(request.accept_encoding)) {
    response.content_encoding = "gzip";
    *text = gzip_.compress(*text);
  }
  response.body = Body::of(std::move(*text));
  return response;
}

Response Router::answer_ready() {
  const view::View* view = live_.get();
  if (view == nullptr) return text_response(503, "recorder: " + in_one_line(live_.error()));
  std::string lines;
  for (const view::NotReady& entry : view::find_not_ready(*view)) {
    if (!lines.empty()) lines += '\n';
    lines += fmt::format("{}: {}", entry.what, entry.reason);
  }
  const bool is_ready = lines.empty();
  if (is_ready) lines = "ready";
  lines += drained_lines(*view);
  if (!options_.note.empty()) lines += fmt::format("\n({})", options_.note);
  return text_response(is_ready ? 200 : 503, std::move(lines));
}

Response Router::answer_alive() const {
  return text_response(200,
                       options_.note.empty() ? "alive" : fmt::format("alive\n({})", options_.note));
}

}  // namespace everywatt::web
