# SPDX-License-Identifier: Apache-2.0
# What we take from the distribution; tools/packages.txt names the packages.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers alone: Boost::headers
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)

# The distribution has fmt and toml++ as shared libraries only, and those would bring the shared
# libstdc++ along. Their headers hold the whole library: fmt is compiled once by a file of ours,
# toml++ where it is included, which is in one place.
find_path(EVERYWATT_FMT_HEADERS fmt/format-inl.h REQUIRED)
add_library(ew_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cc)
add_library(fmt::fmt ALIAS ew_fmt)

# What is newer than the glibc that the release needs: see there.
add_library(ew_old_glibc OBJECT ${CMAKE_CURRENT_LIST_DIR}/old_glibc.cc)

find_path(EVERYWATT_TOML_HEADERS toml++/toml.h REQUIRED)
add_library(ew_toml INTERFACE)
add_library(tomlplusplus::tomlplusplus ALIAS ew_toml)

# Static, as all that follows: the release needs nothing but glibc and libgcc_s of the machine that it
# runs on.
find_path(EVERYWATT_ZLIB_HEADERS zlib.h REQUIRED)
find_library(EVERYWATT_ZLIB_LIBRARY libz.a REQUIRED)
add_library(ew_zlib INTERFACE)
target_include_directories(ew_zlib SYSTEM INTERFACE ${EVERYWATT_ZLIB_HEADERS})
target_link_libraries(ew_zlib INTERFACE ${EVERYWATT_ZLIB_LIBRARY})
add_library(ZLIB::ZLIB ALIAS ew_zlib)

# core.h came with OpenSSL 3.
find_path(EVERYWATT_OPENSSL_HEADERS openssl/core.h REQUIRED)
find_library(EVERYWATT_CRYPTO_LIBRARY libcrypto.a REQUIRED)
find_library(EVERYWATT_SSL_LIBRARY libssl.a REQUIRED)
add_library(ew_crypto INTERFACE)
target_include_directories(ew_crypto SYSTEM INTERFACE ${EVERYWATT_OPENSSL_HEADERS})
target_link_libraries(ew_crypto INTERFACE ${EVERYWATT_CRYPTO_LIBRARY} Threads::Threads)
add_library(OpenSSL::Crypto ALIAS ew_crypto)
add_library(ew_ssl INTERFACE)
target_link_libraries(ew_ssl INTERFACE ${EVERYWATT_SSL_LIBRARY} ew_crypto)
add_library(OpenSSL::SSL ALIAS ew_ssl)

find_path(EVERYWATT_SECCOMP_HEADERS seccomp.h REQUIRED)
find_library(EVERYWATT_SECCOMP_LIBRARY libseccomp.a REQUIRED)
add_library(ew_seccomp INTERFACE)
target_include_directories(ew_seccomp SYSTEM INTERFACE ${EVERYWATT_SECCOMP_HEADERS})
target_link_libraries(ew_seccomp INTERFACE ${EVERYWATT_SECCOMP_LIBRARY})

# Headers alone: the one part that sends something loads the machine's libcurl when it does.
find_path(EVERYWATT_CURL_HEADERS curl/curl.h REQUIRED
          PATH_SUFFIXES ${CMAKE_LIBRARY_ARCHITECTURE})
add_library(ew_curl_headers INTERFACE)
target_include_directories(ew_curl_headers SYSTEM INTERFACE ${EVERYWATT_CURL_HEADERS})

# Static: the shared one of the distribution would bring the shared libstdc++ along.
find_path(EVERYWATT_SNAPPY_HEADERS snappy.h REQUIRED)
find_library(EVERYWATT_SNAPPY_LIBRARY libsnappy.a REQUIRED)
add_library(ew_snappy INTERFACE)
target_include_directories(ew_snappy SYSTEM INTERFACE ${EVERYWATT_SNAPPY_HEADERS})
target_link_libraries(ew_snappy INTERFACE ${EVERYWATT_SNAPPY_LIBRARY})

# Headers are all there is of it.
find_path(EVERYWATT_PROTOZERO_HEADERS protozero/pbf_writer.hpp REQUIRED)
add_library(ew_protozero INTERFACE)
target_include_directories(ew_protozero SYSTEM INTERFACE ${EVERYWATT_PROTOZERO_HEADERS})

# Static: the distribution's shared one would bring the shared libstdc++ along.
find_path(EVERYWATT_YAML_HEADERS yaml-cpp/yaml.h REQUIRED)
find_library(EVERYWATT_YAML_LIBRARY libyaml-cpp.a REQUIRED)
add_library(ew_yaml INTERFACE)
target_include_directories(ew_yaml SYSTEM INTERFACE ${EVERYWATT_YAML_HEADERS})
target_link_libraries(ew_yaml INTERFACE ${EVERYWATT_YAML_LIBRARY})

# Static: its shared library has another name on each family of distributions.
find_path(EVERYWATT_CRYPT_HEADERS crypt.h REQUIRED)
find_library(EVERYWATT_CRYPT_LIBRARY libcrypt.a REQUIRED)
add_library(ew_crypt INTERFACE)
target_include_directories(ew_crypt SYSTEM INTERFACE ${EVERYWATT_CRYPT_HEADERS})
target_link_libraries(ew_crypt INTERFACE ${EVERYWATT_CRYPT_LIBRARY})
