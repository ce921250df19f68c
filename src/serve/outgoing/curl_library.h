// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace everywatt::outgoing {

// The functions of libcurl that we call, from the machine's libcurl.so.4. Loaded once and kept.
struct CurlLibrary {
  decltype(&curl_easy_init) easy_init;
  decltype(&curl_easy_setopt) easy_setopt;
  decltype(&curl_easy_perform) easy_perform;
  decltype(&curl_easy_getinfo) easy_getinfo;
  decltype(&curl_easy_reset) easy_reset;
  decltype(&curl_easy_cleanup) easy_cleanup;
  decltype(&curl_easy_strerror) easy_strerror;
  decltype(&curl_slist_append) slist_append;
  decltype(&curl_slist_free_all) slist_free_all;

  // Any thread. kNotSupported where it is not there, with the package to install as hint.
  static base::Result<const CurlLibrary*> open();
};

// A header list or a list of addresses, freed with its owner.
class CurlList {
 public:
  explicit CurlList(const CurlLibrary& library) : library_(library) {}
  CurlList(const CurlList&) = delete;
  CurlList& operator=(const CurlList&) = delete;
  ~CurlList() { library_.slist_free_all(list_); }

  void add(const std::string& text) { list_ = library_.slist_append(list_, text.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  const CurlLibrary& library_;
  curl_slist* list_ = nullptr;
};

// One handle: options are forgotten between requests, connections are kept.
class CurlHandle {
 public:
  explicit CurlHandle(const CurlLibrary& library)
      : library_(library), handle_(library.easy_init()) {}
  CurlHandle(const CurlHandle&) = delete;
  CurlHandle& operator=(const CurlHandle&) = delete;
  ~CurlHandle() { library_.easy_cleanup(handle_); }

  bool is_open() const { return handle_ != nullptr; }
  const CurlLibrary& library() const { return library_; }
  void reset() { library_.easy_reset(handle_); }
  template <typename Value>
  void set(CURLoption option, Value value) {
    library_.easy_setopt(handle_, option, value);
  }
  void set(CURLoption option, const std::string& text) { set(option, text.c_str()); }
  // Timeouts in milliseconds, no signals, and an end when `stop` asks for one.
  void set_limits(std::int64_t connect_timeout_ms, std::int64_t timeout_ms,
                  const std::stop_token& stop);
  // TLS 1.2 or later; `ca_file` instead of the machine's certificates unless it is empty.
  void set_trust(const std::string& ca_file);
  CURLcode perform() { return library_.easy_perform(handle_); }
  long get_long(CURLINFO which) const;
  // Why perform() failed, in one line without the address; `address` is what may be said of it.
  std::string explain(CURLcode code, std::string_view address, const std::stop_token& stop) const;

 private:
  const CurlLibrary& library_;
  CURL* handle_;
};

}  // namespace everywatt::outgoing
