// SPDX-License-Identifier: Apache-2.0
#pragma once

// Compares our declarations of the NVML interface with the official header, at compile time.
// test_nvml_abi.py, which knows where that header is, compiles the files beside this one; nothing
// here runs.
#include <nvml.h>

#include <cstddef>
#include <tuple>
#include <type_traits>

#include "device/nvml/abi.h"

namespace abi = everywatt::nvml::abi;

#define SAME_SIZE(ours, theirs) \
  static_assert(sizeof(abi::ours) == sizeof(theirs) && alignof(abi::ours) == alignof(theirs))
#define SAME_PLACE(ours, our_member, theirs, their_member)                          \
  static_assert(offsetof(abi::ours, our_member) == offsetof(theirs, their_member)); \
  static_assert(sizeof(std::declval<abi::ours>().our_member) ==                     \
                sizeof(std::declval<theirs>().their_member))
#define SAME_NUMBER(ours, theirs)                             \
  static_assert(static_cast<unsigned long long>(abi::ours) == \
                static_cast<unsigned long long>(theirs))

// Two types of a parameter that a caller of either may pass to the other: the same size, and both
// pointers or neither.
template <typename Ours, typename Theirs>
constexpr bool is_same_word =
    sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;

template <typename Ours, typename Theirs>
struct Compare : std::false_type {};  // another number of parameters

template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
  requires(sizeof...(Ours) == sizeof...(Theirs))
struct Compare<OurResult(Ours...), TheirResult(Theirs...)>
    : std::bool_constant<is_same_word<OurResult, TheirResult> &&
                         (is_same_word<Ours, Theirs> && ...)> {};

#define SAME_CALL(ours, theirs) \
  static_assert(Compare<decltype(abi::ours)::Type, decltype(theirs)>::value)
