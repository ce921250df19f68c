// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "serve/outgoing/http_client.h"

namespace everywatt::outgoing {

// A server, or a proxy before it, may quote what it was sent, and what it says goes into the log.
// Takes out of `outcome` what of `request` is a secret: address, password, token, and name and
// password as a header carries them. To be called before anything is cut: half a secret would not
// be found. What is shorter than six characters stays, as it may be any word of the answer.
void redact(HttpOutcome& outcome, const HttpRequest& request);

}  // namespace everywatt::outgoing
