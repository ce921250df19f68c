// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace everywatt::recorder {

// What a read of one row met.
enum class RowState {
  kOk,
  kNotYet,   // not published
  kLost,     // overwritten before or while it was read
  kDamaged,  // its check word is wrong
};

}  // namespace everywatt::recorder
