// SPDX-License-Identifier: Apache-2.0
#include "serve/outgoing/curl_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace everywatt::outgoing {
namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

base::Result<CurlLibrary> load() {
  constexpr const char* kHint = "install libcurl 7.62 or later (Debian and Ubuntu: libcurl4)";
  // Never closed: it has thread-local storage and hooks of its own libraries.
  void* library = ::dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return base::fail(base::Code::kNotSupported, "libcurl.so.4 cannot be loaded", kHint);
  }
  CurlLibrary curl{};
  decltype(&curl_global_init) global_init{};
  const bool has_all = find(library, "curl_global_init", global_init) &&
                       find(library, "curl_easy_init", curl.easy_init) &&
                       find(library, "curl_easy_setopt", curl.easy_setopt) &&
                       find(library, "curl_easy_perform", curl.easy_perform) &&
                       find(library, "curl_easy_getinfo", curl.easy_getinfo) &&
                       find(library, "curl_easy_reset", curl.easy_reset) &&
                       find(library, "curl_easy_cleanup", curl.easy_cleanup) &&
                       find(library, "curl_easy_strerror", curl.easy_strerror) &&
                       find(library, "curl_slist_append", curl.slist_append) &&
                       find(library, "curl_slist_free_all", curl.slist_free_all);
  if (!has_all || global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return base::fail(base::Code::kNotSupported, "libcurl.so.4 is not usable", kHint);
  }
  return curl;
}

// Called by libcurl at least once a second while a request runs; other than 0 ends it.
int ask_stop(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<const std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

// libcurl's own sentences may quote the address or what stands in it; ours do not.
std::string_view reason(CURLcode code, const CurlLibrary& library) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return "the name of the host is not known";
    case CURLE_COULDNT_CONNECT:
      return "nobody accepts the connection";
    case CURLE_OPERATION_TIMEDOUT:
      return "no answer in time";
    case CURLE_PEER_FAILED_VERIFICATION:
      return "its certificate is not trusted";
    case CURLE_SSL_CONNECT_ERROR:
      return "TLS failed";
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    // By us, in place of another try.
    case CURLE_ABORTED_BY_CALLBACK:
      return "the connection broke before an answer came";
    case CURLE_URL_MALFORMAT:
      return "the address is not one";
    case CURLE_UNSUPPORTED_PROTOCOL:
      return "the address is of a kind that is not spoken";
    case CURLE_SSL_CACERT_BADFILE:
      return "the file of trusted certificates cannot be read";
    case CURLE_SSL_CERTPROBLEM:
      return "our certificate or its key cannot be used";
    case CURLE_USE_SSL_FAILED:
      return "it offers no STARTTLS";
    case CURLE_LOGIN_DENIED:
      return "it refuses user name or password";
    default:
      return library.easy_strerror(code);
  }
}

}  // namespace

base::Result<const CurlLibrary*> CurlLibrary::open() {
  static const base::Result<CurlLibrary> loaded = load();
  if (!loaded) return std::unexpected(loaded.error());
  return &*loaded;
}

void CurlHandle::set_limits(std::int64_t connect_timeout_ms, std::int64_t timeout_ms,
                            const std::stop_token& stop) {
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout_ms));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(timeout_ms));
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &ask_stop);
  set(CURLOPT_XFERINFODATA, const_cast<std::stop_token*>(&stop));
}

void CurlHandle::set_trust(const std::string& ca_file) {
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!ca_file.empty()) {
    set(CURLOPT_CAINFO, ca_file);
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
}

long CurlHandle::get_long(CURLINFO which) const {
  long value = 0;
  return library_.easy_getinfo(handle_, which, &value) == CURLE_OK ? value : 0;
}

std::string CurlHandle::explain(CURLcode code, std::string_view address,
                                const std::stop_token& stop) const {
  if (stop.stop_requested()) return fmt::format("{}: stopped", address);
  return fmt::format("{}: {}", address, reason(code, library_));
}

}  // namespace everywatt::outgoing
