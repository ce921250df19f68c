// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "device/nvml/abi.h"
#include "device/sim/garbage.h"
#include "device/sim/library/library.h"

// Leaves garbage in everything that a call's arguments point to. What the caller asked (field ids)
// and the pointers that he gives stay. A handle of a GPU is garbage too: the simulation follows
// none that it did not give out. Handles that are to be freed become null.
namespace everywatt::sim {

// How long the caller's arrays are: numbers among the arguments, read before they are garbage.
struct Lengths {
  std::optional<std::size_t> first;    // of the plain numbers
  std::optional<std::size_t> last;     // of the plain numbers
  std::optional<std::size_t> pointed;  // the first that is pointed to
};

template <typename T>
void note_length(Lengths& lengths, T argument) {
  if constexpr (std::is_same_v<T, unsigned> || std::is_same_v<T, int>) {
    if (!lengths.first) lengths.first = static_cast<std::size_t>(argument);
    lengths.last = static_cast<std::size_t>(argument);
  } else if constexpr (std::is_same_v<T, unsigned*>) {
    if (argument && !lengths.pointed) lengths.pointed = *argument;
  }
}

template <typename T>
void fill(const PendingGarbage& garbage, T* memory, std::size_t elements) {
  fill_garbage(garbage.kind, memory, sizeof(T) * elements, garbage.seed);
}

inline void garble_each(const PendingGarbage& garbage, const Lengths& lengths,
                        abi::FieldValue* values) {
  for (std::size_t i = 0; i < lengths.last.value_or(0); ++i) {
    const abi::FieldValue asked = values[i];
    fill(garbage, values + i, 1);
    values[i].field_id = asked.field_id;
    values[i].scope_id = asked.scope_id;
    values[i].nvml_return = abi::Return::kSuccess;
  }
}

inline void garble_each(const PendingGarbage& garbage, const Lengths&,
                        abi::GpmMetricsGet* request) {
  const unsigned metrics = std::min(request->num_metrics, abi::kGpmMetricsCapacity);
  for (unsigned i = 0; i < metrics; ++i) {
    request->metrics[i].nvml_return = abi::Return::kSuccess;
    request->metrics[i].value = garbage_number(garbage.kind, garbage.seed + i);
  }
}

inline void garble_each(const PendingGarbage& garbage, const Lengths&,
                        abi::ProcessesUtilizationInfo* list) {
  if (list->proc_util_array) fill(garbage, list->proc_util_array, list->process_samples_count);
  fill(garbage, &list->process_samples_count, 1);
  fill(garbage, &list->last_seen_time_stamp, 1);
}

inline void garble_each(const PendingGarbage& garbage, const Lengths& lengths, char* text) {
  fill(garbage, text, lengths.last.value_or(abi::kGspVersionBufferSize));
}

template <typename T>
inline constexpr bool kIsArray =
    std::is_same_v<T, abi::ProcessInfo> || std::is_same_v<T, abi::ProcessInfoV1> ||
    std::is_same_v<T, abi::ProcessUtilizationSample> || std::is_same_v<T, abi::Sample>;

template <typename T>
void garble_each(const PendingGarbage& garbage, const Lengths& lengths, T* memory) {
  if constexpr (std::is_same_v<T, abi::GpmSample> || std::is_same_v<T, abi::EventSet>) {
    *memory = nullptr;
  } else if constexpr (kIsArray<T>) {
    fill(garbage, memory, lengths.pointed.value_or(0));
  } else if constexpr (std::is_same_v<T, unsigned long long>) {
    fill(garbage, memory, lengths.pointed.value_or(1));  // addresses of retired pages, or a number
  } else if constexpr (std::is_same_v<T, unsigned long>) {
    fill(garbage, memory, lengths.first.value_or(0));  // words of a set of CPUs
  } else {
    fill(garbage, memory, 1);
  }
}

template <typename T>
void garble_argument(const PendingGarbage& garbage, const Lengths& lengths, T argument) {
  constexpr bool kIsHandle = std::is_same_v<T, abi::Device> || std::is_same_v<T, abi::GpmSample> ||
                             std::is_same_v<T, abi::EventSet>;
  if constexpr (std::is_pointer_v<T> && !kIsHandle) {
    if constexpr (!std::is_const_v<std::remove_pointer_t<T>>) {
      if (argument) garble_each(garbage, lengths, argument);
    }
  }
}

template <typename... Args>
void garble(const PendingGarbage& garbage, Args... arguments) {
  Lengths lengths;
  (note_length(lengths, arguments), ...);
  (garble_argument(garbage, lengths, arguments), ...);
}

}  // namespace everywatt::sim
