// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace everywatt::web {

// Whether it is a bcrypt hash ($2a$, $2b$, $2y$) that can be checked against. The message has no
// part of it.
base::Status judge_password_hash(std::string_view hash);

// The logarithm of what a check costs. REQUIRES: judge_password_hash() is content with it.
unsigned cost_of(std::string_view hash);

// True when the password is the one of the hash; of a password 72 bytes count, as everywhere in
// bcrypt. Takes as long as a check against a hash of `cost`, however cheap this one is, and as long
// with a hash of nobody (""): then it is false. Slow on purpose: 2^cost steps, some 60 ms at 10.
// Safe on any thread.
bool check_password(std::string_view password, const std::string& hash, unsigned cost);

}  // namespace everywatt::web
