// SPDX-License-Identifier: Apache-2.0
#include "serve/web/accept.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace everywatt::web {
namespace {

// The value of a parameter (";version=1.0.0"), or nothing.
std::string_view parameter(std::string_view element, std::string_view name) {
  for (const std::string_view part : base::split(element, ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    if (base::to_lower(base::trim(part.substr(0, equals))) == name) {
      return base::trim(part.substr(equals + 1));
    }
  }
  return {};
}

// A type without a version is taken in ours; in another version there is nothing that we write.
bool is_in_version(std::string_view element, std::string_view ours) {
  const std::string_view version = parameter(element, "version");
  return version.empty() || version == ours;
}

}  // namespace

double weight_of(std::string_view element) {
  const std::string_view weight = parameter(element, "q");
  if (weight.empty()) return 1;
  return base::parse_f64(weight).value_or(0);
}

exporter::Format format_for(std::string_view accept) {
  double openmetrics = 0;
  double text = 0;
  for (const std::string_view element : base::split(accept, ',')) {
    const std::string type = base::to_lower(base::trim(element.substr(0, element.find(';'))));
    const double weight = weight_of(element);
    if (type == "application/openmetrics-text" && is_in_version(element, "1.0.0")) {
      openmetrics = std::max(openmetrics, weight);
    } else if (type == "text/plain" && is_in_version(element, "0.0.4")) {
      text = std::max(text, weight);
    }
  }
  return openmetrics > text ? exporter::Format::kOpenMetrics : exporter::Format::kText;
}

}  // namespace everywatt::web
