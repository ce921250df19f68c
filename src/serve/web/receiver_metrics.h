// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "serve/courier_link/messages.h"
#include "serve/exporter/exposition.h"

namespace everywatt::web {

enum class CourierState { kAway, kThere };

// What is sent to other machines, as families: everywatt_courier_..., everywatt_notify_...,
// everywatt_remote_write_....
void append_courier(const courier_link::Status& status, CourierState state,
                    exporter::Exposition& out);

}  // namespace everywatt::web
