// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace everywatt::web {

// OpenSSL's objects, freed with their owner.
template <auto kFree>
struct Freer {
  void operator()(auto* object) const { kFree(object); }
};
using Bio = std::unique_ptr<BIO, Freer<::BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freer<::X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<::EVP_PKEY_free>>;

}  // namespace everywatt::web
