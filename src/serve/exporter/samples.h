// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "read/view/readiness.h"
#include "read/view/view.h"
#include "serve/exporter/counters.h"
#include "serve/exporter/exporter.h"
#include "serve/exporter/exposition.h"
#include "serve/exporter/families.h"
#include "serve/exporter/plan.h"

namespace everywatt::exporter {

// The sets of names. Each appends whole families, disjoint from the others'.

void append_native(const view::View& view, const Plan& plan, std::span<const Family> families,
                   std::size_t processes_a_gpu, Exposition& out);
// `native`: the families of our own names in the same answer; none where they are not asked for.
void append_dcgm(const view::View& view, const Plan& plan, const Options& options,
                 std::span<const Family> native, Exposition& out);
void append_dcgm_legacy(const view::View& view, const Plan& plan, Exposition& out);
void append_self(const view::View& view, const Plan& plan, std::span<const Family> families,
                 view::LastGood& last_good, Exposition& out);

// The samples of one metric in DCGM's units, under either kind of labels.
void append_readings(const view::View& view, const Plan& plan, catalog::MetricId id,
                     std::string Target::* labels, Exposition& out);
// The pieces of append_dcgm(): what DCGM's exporter works out over a window.
void append_clock_events_count(const view::View& view, const Plan& plan, std::int64_t window_ns,
                               Exposition& out);
void append_xids_count(const view::View& view, const Plan& plan, std::int64_t window_ns,
                       Exposition& out);

// The pieces of append_native().
void append_family(const view::View& view, const Plan& plan, const Family& family, Exposition& out);
void append_histogram(const view::View& view, const Plan& plan, const Family& family,
                      Exposition& out);
void append_clock_events(const view::View& view, const Plan& plan, Exposition& out);
void append_info(const Plan& plan, Exposition& out);
void append_processes(const view::View& view, const Plan& plan, std::size_t processes_a_gpu,
                      Exposition& out);

// The sample of one reading of an opened family, unless it cannot be published.
void append_reading(const Target& target, catalog::MetricId id, unsigned instance,
                    catalog::Reading reading, Exposition& out);
// Ends an opened sample with a reading. REQUIRES: ok, finite, no text.
void put_value(Exposition& out, catalog::MetricId id, catalog::Reading reading);
// True when the reading can be published: ok, and no infinity or NaN whatever the file says.
bool is_publishable(catalog::MetricId id, catalog::Reading reading);

}  // namespace everywatt::exporter
