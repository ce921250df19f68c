// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "read/view/readiness.h"
#include "read/view/view.h"
#include "serve/exporter/counters.h"
#include "serve/exporter/exposition.h"
#include "serve/exporter/families.h"
#include "serve/exporter/plan.h"

namespace everywatt::exporter {

// The sets of names. Each appends whole families, disjoint from the others'.

void append_native(const view::View& view, const Plan& plan, std::span<const Family> families,
                   std::size_t processes_a_gpu, Exposition& out);
void append_dcgm(const view::View& view, const Plan& plan, std::span<const Counter> families,
                 Exposition& out);
void append_dcgm_legacy(const view::View& view, const Plan& plan, Exposition& out);
void append_self(const view::View& view, const Plan& plan, std::span<const Family> families,
                 view::LastGood& last_good, Exposition& out);

// The pieces of append_native().
void append_family(const view::View& view, const Plan& plan, const Family& family, Exposition& out);
void append_histogram(const view::View& view, const Plan& plan, const Family& family,
                      Exposition& out);
void append_clock_events(const view::View& view, const Plan& plan, Exposition& out);
void append_info(const Plan& plan, Exposition& out);
void append_processes(const view::View& view, const Plan& plan, std::size_t processes_a_gpu,
                      Exposition& out);

// Ends an opened sample with a reading. REQUIRES: ok, finite, no text.
void put_value(Exposition& out, catalog::MetricId id, catalog::Reading reading);
// True when the reading can be published: ok, and no infinity or NaN whatever the file says.
bool is_publishable(catalog::MetricId id, catalog::Reading reading);

}  // namespace everywatt::exporter
