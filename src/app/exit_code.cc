// SPDX-License-Identifier: Apache-2.0
#include "app/exit_code.h"

namespace everywatt::app {

ExitCode exit_code(base::Code code) {
  switch (code) {
    case base::Code::kNotFound:
    case base::Code::kInvalidArgument:
    case base::Code::kCorrupt:
      return kBadUsage;
    case base::Code::kNotSupported:
    case base::Code::kNoPermission:
    case base::Code::kUnavailable:
    case base::Code::kIo:
      return kUnavailable;
  }
  return kUnavailable;
}

}  // namespace everywatt::app
