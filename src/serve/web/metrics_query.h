// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/view/view.h"
#include "serve/exporter/exporter.h"
#include "serve/web/target.h"

namespace everywatt::web {

// What is asked of /metrics: ?names= ?gpu= ?metric=, each a list between commas and given any
// number of times, and the format.
struct MetricsQuery {
  exporter::Wish wish;
  std::vector<std::string> metrics;  // families, or their beginning and '*'; empty: all
  exporter::Format format = exporter::Format::kText;

  // Equal for queries that are answered alike.
  std::string key() const;
};

// What a scrape gets that does not say.
struct MetricsDefaults {
  exporter::NameSets names = exporter::kDefaultNames;
  std::vector<std::string> gpus = {};  // as in ?gpu=; those that are not there now are left out
};

// `view` null: there is no recorder, and no GPU is known. kInvalidArgument, kNotFound: an unknown
// parameter, names or a GPU that do not exist, a metric that no name can be.
base::Result<MetricsQuery> parse_metrics_query(const Target& target, std::string_view accept,
                                               const MetricsDefaults& defaults,
                                               const view::View* view);

}  // namespace everywatt::web
