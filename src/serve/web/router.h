// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "serve/exporter/exporter.h"
#include "serve/web/body_cache.h"
#include "serve/web/live_view.h"
#include "serve/web/message.h"
#include "serve/web/target.h"
#include "serve/web/tick.h"

namespace everywatt::web {

struct RouterOptions {
  view::Options view;
  exporter::NameSets names = exporter::kDefaultNames;
  std::vector<std::string> host_names = {};
  std::string note = {};
  // exporter::Encoder::encode().
  std::function<void(const view::View&, exporter::NameSets, std::string&)> encode;
};

// What is answered to a request. Reads the recorder file and nothing else. Belongs to one thread.
class Router {
 public:
  explicit Router(RouterOptions options);

  Response answer(const Request& request);
  // What /metrics says beside the recorder, of the server itself: whole families, as text.
  void set_more_metrics(std::function<std::string()> format) { format_more_ = std::move(format); }

 private:
  Response answer_path(const Target& target, const Request& request);
  Response answer_metrics(const Target& target, const Request& request);
  Response answer_gpus(const Target& target, const Request& request);
  Response answer_series_request(const Target& target, const Request& request);
  Response answer_ready();
  Response answer_alive() const;

  RouterOptions options_;
  std::function<std::string()> format_more_ = {};
  LiveView live_;
  TickReader ticks_;
  BodyCache cache_;
  Gzip gzip_;
};

}  // namespace everywatt::web
