# SPDX-License-Identifier: Apache-2.0
# How every file of ours is compiled and every program of ours is linked.

add_compile_options(-Wall -Wextra -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # gcc's verdict is the one we follow. clang counts sign changes as conversions, and blames us for
  # what libstdc++'s std::stable_sort calls.
  add_compile_options(-Wno-sign-conversion -Wno-deprecated-declarations -Wthread-safety)
endif()

# Names of files in messages and debug records are relative to the checkout: the same source gives
# the same object in every folder, and the compiler cache is shared between build folders.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=
                    -fdebug-prefix-map=${CMAKE_BINARY_DIR}=.)

if(EVERYWATT_SANITIZE)
  add_compile_options(-fsanitize=${EVERYWATT_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${EVERYWATT_SANITIZE})
else()
  # The release runs where libstdc++ is older than ours. A program or shared library keeps to itself
  # what is linked into it: libcurl, loaded later, brings an OpenSSL of its own. libgcc_s is shared,
  # as a static unwinder asks for the glibc of the machine that it was built on.
  add_link_options(-static-libstdc++ -Wl,--exclude-libs,ALL)
endif()

find_program(EVERYWATT_CCACHE ccache)
if(EVERYWATT_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${EVERYWATT_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${EVERYWATT_CCACHE})
endif()
