# SPDX-License-Identifier: Apache-2.0
# What we take from the distribution; tools/packages.txt names the packages.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)  # headers alone: Boost::headers
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(CLI11 REQUIRED)
find_package(ZLIB REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)

# The distribution has fmt as a shared library only, and that would bring the shared libstdc++
# along with it. Its headers hold the whole library, so one file of ours compiles it.
find_path(EVERYWATT_FMT_HEADERS fmt/format-inl.h REQUIRED)
add_library(ew_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cc)
add_library(fmt::fmt ALIAS ew_fmt)
