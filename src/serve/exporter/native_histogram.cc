// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "catalog/glossary.h"
#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

using catalog::Metric;
using catalog::MetricId;
using view::View;

// 0.1 * 700 is 70.00000000000001, which would be another series than "70.0". With a point in every
// format: OpenMetrics wants it, and a series must not change its name with the scraper.
std::string bound_text(double bound) {
  constexpr double kFinest = 1e6;
  std::string text = fmt::format("{}", std::round(bound * kFinest) / kFinest);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// What the bounds of the bands are multiplied with; 0: unknown.
double bound_unit(const View& view, const Target& target, MetricId buckets) {
  if (buckets != MetricId::gpu_power_sampled_watts_bucket) return 1;
  return view.number(target.handle(MetricId::gpu_power_limit_max_watts)).value_or(0);
}

void append_one(const View& view, const Target& target, MetricId buckets, MetricId sum,
                Exposition& out) {
  const Metric& metric = catalog::metric(buckets);
  const double unit = bound_unit(view, target, buckets);
  catalog::Row row(metric.scope, metric.lane);
  // One row, so that the parts of the histogram fit together.
  if (unit <= 0 || !view.newest_row(target.device.slot, metric.lane, row)) return;
  const catalog::Reading total = row.reading(sum);
  if (!row.reading(buckets).is_ok() || !is_publishable(sum, total)) return;
  const std::span<const double> bounds = catalog::histogram_bounds(buckets);
  std::uint64_t count = 0;
  for (unsigned band = 0; band < metric.instances; ++band) {
    const catalog::Reading reading = row.reading(buckets, band);
    if (reading.is_ok()) count += reading.u64();
    if (band >= bounds.size()) break;
    out.sample("_bucket").labels(target.labels).label("le", bound_text(bounds[band] * unit));
    out.value(count);
  }
  out.sample("_bucket").labels(target.labels).label("le", "+Inf").value(count);
  out.sample("_sum").labels(target.labels);
  put_value(out, sum, total);
  out.sample("_count").labels(target.labels).value(count);
}

}  // namespace

void append_histogram(const View& view, const Plan& plan, const Family& family, Exposition& out) {
  if (family.members.size() != 2) return;
  out.begin_family(family.name, family.type, family.help);
  for (const Target& target : plan.targets) {
    if (target.device.scope != family.scope) continue;
    append_one(view, target, family.members[0], family.members[1], out);
  }
}

}  // namespace everywatt::exporter
