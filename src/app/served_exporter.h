// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/config.h"
#include "serve/exporter/exporter.h"

namespace everywatt::app {

// What the series are like, the same in /metrics and where they are sent to. To be called while the
// operator's files can be read.
exporter::Options served_exporter(const Config& config);

}  // namespace everywatt::app
