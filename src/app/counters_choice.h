// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/config.h"
#include "base/result.h"
#include "serve/exporter/counters.h"

namespace everywatt::app {

// What `serve.counters` chooses, with the lines of its file that say nothing. An error: the file
// cannot be read, or chooses nothing at all.
base::Result<exporter::CountersReading> choose_counters(const Config& config);

}  // namespace everywatt::app
