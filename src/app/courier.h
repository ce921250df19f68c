// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/config.h"
#include "app/exit_code.h"
#include "app/part.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/web/receiver.h"

namespace everywatt::app {

// The part that speaks to other machines: notifications of channels and remote write.
base::Result<ExitCode> run_courier(const Config& config, const PartWords& words);

// What the server must know of it. A door that is not open: there is none.
web::ReceiverOptions receiver_options(const Config& config, base::UniqueFd door);

}  // namespace everywatt::app
