// SPDX-License-Identifier: Apache-2.0
#include "serve/web/client_names.h"

#include <arpa/inet.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <memory>

namespace everywatt::web {
namespace {

std::string text_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(::ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(::ASN1_STRING_length(text))};
}

// "" for what is no address.
std::string address_of(const ASN1_STRING* bytes) {
  const int family = ::ASN1_STRING_length(bytes) == 4 ? AF_INET : AF_INET6;
  if (family == AF_INET6 && ::ASN1_STRING_length(bytes) != 16) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(family, ::ASN1_STRING_get0_data(bytes), text.data(), text.size());
  return text.data();
}

std::string name_of(const GENERAL_NAME& name) {
  switch (name.type) {
    case GEN_DNS:
    case GEN_EMAIL:
    case GEN_URI:
      return text_of(name.d.ia5);
    case GEN_IPADD:
      return address_of(name.d.iPAddress);
    default:
      return {};
  }
}

}  // namespace

bool has_one_of_names(const x509_st* certificate, const std::vector<std::string>& names) {
  if (certificate == nullptr) return false;
  const auto free_all = [](GENERAL_NAMES* all) { ::GENERAL_NAMES_free(all); };
  const std::unique_ptr<GENERAL_NAMES, decltype(free_all)> all(
      static_cast<GENERAL_NAMES*>(
          ::X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      free_all);
  const int count = all == nullptr ? 0 : sk_GENERAL_NAME_num(all.get());
  for (int i = 0; i < count; ++i) {
    const std::string name = name_of(*sk_GENERAL_NAME_value(all.get(), i));
    if (!name.empty() && std::ranges::find(names, name) != names.end()) return true;
  }
  return false;
}

}  // namespace everywatt::web
