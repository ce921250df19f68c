// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

struct x509_st;

namespace everywatt::web {

// Whether a certificate's alternative names - DNS names, mail and IP addresses, URIs - have one of
// these, letter by letter.
bool has_one_of_names(const x509_st* certificate, const std::vector<std::string>& names);

}  // namespace everywatt::web
