// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"

namespace everywatt::nvml {

// A driver library as a loaded file.
struct LibraryFile {
  std::string path;
  void* handle = nullptr;  // of dlopen
};

// Loads `path`, or the first of the search list that works when it is empty. What cannot be loaded,
// or lacks nvmlInit, is passed over; when nothing is left the error is kNotFound (kNoPermission if
// rights stood in the way) and its message names the first file that is there with what is wrong
// with it; the log of level debug names every path tried.
base::Result<LibraryFile> load_library_file(const std::string& path);

}  // namespace everywatt::nvml
