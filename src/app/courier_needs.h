// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/config.h"
#include "base/result.h"
#include "base/unique_fd.h"

// What the courier gets from who may take it: a folder for what waits, and the variables of the
// environment that hold secrets.
namespace everywatt::app {

// Whether anything is to be sent: without it there is no courier.
bool needs_courier(const Config& config);

// DATA/spool, made if need be: the courier's user alone may enter it. kNoPermission: it is
// somebody else's.
base::Result<base::UniqueFd> open_spool_folder(const std::string& data_folder);

// The variables that the configuration names, with their values; those that are not set are not
// among them. They are taken out of our own environment, so that no process inherits them.
std::vector<std::pair<std::string, std::string>> take_secret_variables(const Config& config);

}  // namespace everywatt::app
