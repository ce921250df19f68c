// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "app/config.h"
#include "app/language.h"
#include "base/result.h"
#include "serve/web/authentication.h"
#include "serve/web/listening_socket.h"

namespace everywatt::app {

// Reads the files that say who may ask, before anything is begun: an error is one of the user's
// input. Says loudly when everybody on the network may. What is to be spoken.
base::Result<web::Scheme> check_access(const Config& config, Language language);

// The same without a word, for who checks a configuration.
base::Status read_access_files(const Config& config);

// The same files for the server; null where none is configured. To be called while the operator's
// files can be read.
base::Result<std::unique_ptr<web::Authentication>> open_authentication(const Config& config);

}  // namespace everywatt::app
