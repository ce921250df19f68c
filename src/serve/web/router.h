// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/exporter/exporter.h"
#include "serve/web/body_cache.h"
#include "serve/web/live_view.h"
#include "serve/web/message.h"
#include "serve/web/metrics_query.h"
#include "serve/web/target.h"
#include "serve/web/tick.h"

namespace everywatt::web {

struct RouterOptions {
  view::Options view;
  MetricsDefaults metrics = {};
  std::vector<std::string> host_names = {};
  std::string note = {};
  // exporter::Encoder::encode().
  std::function<void(const view::View&, const exporter::Wish&, exporter::Exposition&)> encode;
};

// What is answered to a request. Reads the recorder file and nothing else. Belongs to one thread.
class Router {
 public:
  explicit Router(RouterOptions options);

  Response answer(const Request& request);
  // What /metrics says beside the recorder, of the server itself: whole families.
  using AppendMetrics = std::function<void(exporter::Exposition&)>;
  void add_more_metrics(AppendMetrics append) { append_more_.push_back(std::move(append)); }
  // Who answers to requests for kReceiverPath + CHANNEL; without one there is no such path.
  using AnswerChannel = std::function<Response(std::string_view channel, const Request&)>;
  void set_receiver(AnswerChannel answer) { answer_channel_ = std::move(answer); }

 private:
  Response answer_path(const Target& target, const Request& request);
  Response answer_metrics(const Target& target, const Request& request);
  void write_metrics(const view::View* view, const MetricsQuery& query, std::string& text);
  Response answer_gpus(const Target& target, const Request& request);
  Response answer_series_request(const Target& target, const Request& request);
  Response answer_ready();
  Response answer_alive() const;

  RouterOptions options_;
  std::vector<AppendMetrics> append_more_ = {};
  AnswerChannel answer_channel_ = {};
  LiveView live_;
  TickReader ticks_;
  BodyCache cache_;
  Gzip gzip_;
};

}  // namespace everywatt::web
