// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "catalog/row.h"
#include "record/sampler/event_log.h"

namespace everywatt::sampler {

// The events between two rows of the slow lane of one device: uncorrected memory errors, remapped
// rows, links that went down or up, another power limit. A reading that one of them lacks says
// nothing. Pure.
std::vector<Event> find_slow_changes(const catalog::Row& before, const catalog::Row& now,
                                     std::uint32_t device);

// True when something changed on which the once lane depends (modes, limits).
bool is_identity_stale(const catalog::Row& before, const catalog::Row& now);

}  // namespace everywatt::sampler
