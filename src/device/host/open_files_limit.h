// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace everywatt::host {

// Lets this process have as many files open as it is allowed to ask for. The usual 1024 are fewer
// than what watching 64 processes with their data loaders keeps open.
void raise_open_files_limit();

}  // namespace everywatt::host
