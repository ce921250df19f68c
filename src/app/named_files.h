// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/config.h"
#include "app/language.h"

namespace everywatt::app {

// Reads the files that the configuration names, as they are now and for the user who asks. What
// keeps `serve` from starting or a channel from ever sending becomes a fault; what may come before
// it is needed, such as a secret that is not there yet, becomes a note.
void check_named_files(Language language, ConfigReading& reading);

}  // namespace everywatt::app
