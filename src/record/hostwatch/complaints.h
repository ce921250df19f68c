// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace everywatt::hostwatch {

// Says in the log what could not be read: once when it fails, once more when the reason changes,
// and once when it works again. A file that is simply not there is no news except at debug level.
// At most 256 subjects are remembered; the log is quiet about more.
class Complaints {
 public:
  void failed(std::string_view subject, const base::Error& error);
  void worked(std::string_view subject);

 private:
  std::map<std::string, base::Code, std::less<>> reasons_;
};

}  // namespace everywatt::hostwatch
