// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>

#include "app/exit_code.h"
#include "base/result.h"
#include "record/recorder/writer.h"

namespace everywatt::app {

// Runs `work` on a thread of its own until SIGTERM or until it ends by itself, which is an error;
// meanwhile says in `slot` that this process lives, unless it is null.
base::Result<ExitCode> work_until_stopped(
    recorder::PartSlot* slot, const std::function<base::Status(const std::stop_token&)>& work);

}  // namespace everywatt::app
