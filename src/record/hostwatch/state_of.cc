// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/state_of.h"

namespace everywatt::hostwatch {

catalog::State state_of(base::Code code) {
  switch (code) {
    case base::Code::kNoPermission:
      return catalog::State::kNoPermission;
    case base::Code::kNotFound:  // this kernel or root has no such file
    case base::Code::kNotSupported:
      return catalog::State::kNotSupported;
    case base::Code::kUnavailable:
    case base::Code::kCorrupt:
    case base::Code::kInvalidArgument:
    case base::Code::kIo:
      return catalog::State::kFailed;
  }
  return catalog::State::kFailed;
}

}  // namespace everywatt::hostwatch
