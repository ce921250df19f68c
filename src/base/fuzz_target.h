// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/check.h"

// One fuzzer, in a file <name>_fuzz.cc of its room:
//
//   FUZZ_TARGET(name) { ... `bytes` ... }
//
// The body CHECKs what must hold whatever the bytes are, and leaves nothing behind. libFuzzer runs
// it in a program of its own (`./dev fuzz name`); the room's tests run it on what lies in
// tests/corpus/<name>, as it is and changed here and there.
#ifdef EVERYWATT_FUZZER
#define FUZZ_TARGET(name)                                                                       \
  static void fuzz_##name(std::string_view bytes);                                              \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* first, std::size_t size);           \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* first, std::size_t size) {          \
    fuzz_##name(size == 0 ? "" : std::string_view(reinterpret_cast<const char*>(first), size)); \
    return 0;                                                                                   \
  }                                                                                             \
  static void fuzz_##name(std::string_view bytes)
#else
#include <gtest/gtest.h>

#include "base/corpus.h"

#define FUZZ_TARGET(name)                                                                   \
  static void fuzz_##name(std::string_view bytes);                                          \
  TEST(Corpus, name) {                                                                      \
    EXPECT_GT(::everywatt::base::replay_corpus(EVERYWATT_SOURCE_DIR "/tests/corpus/" #name, \
                                               fuzz_##name),                                \
              0U);                                                                          \
  }                                                                                         \
  static void fuzz_##name(std::string_view bytes)
#endif

// Before a function that only judges: a fuzzer is to find ways through what is tried, and not
// through this.
#ifdef __clang__
#define JUDGE [[clang::no_sanitize("coverage", "address")]]
#else
#define JUDGE
#endif

namespace everywatt::base {

// Takes the bytes of a fuzzer apart. Behind their end there are zeros.
class FuzzInput {
 public:
  explicit FuzzInput(std::string_view bytes) : rest_(bytes) {}

  bool is_empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view take(std::size_t size) {
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  void fill(void* target, std::size_t size) {
    std::memset(target, 0, size);
    const std::string_view taken = take(size);
    taken.copy(static_cast<char*>(target), taken.size());
  }
  template <typename Number>
  Number number() {
    Number number{};
    fill(&number, sizeof(number));
    return number;
  }
  std::uint8_t byte() { return number<std::uint8_t>(); }
  // Up to the next line that holds "--" alone, or to the end: what stands for one of several files.
  std::string_view part() {
    constexpr std::string_view kSeparator = "\n--\n";
    const std::size_t end = rest_.find(kSeparator);
    const std::string_view taken = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + kSeparator.size());
    return taken;
  }

 private:
  std::string_view rest_;
};

// True for UTF-8 as RFC 3629 has it. By the letter, and not with the code that is tried by it.
JUDGE inline bool is_utf8(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = at(i);
    const std::size_t more = first < 0x80                     ? 0
                             : first >= 0xc2 && first <= 0xdf ? 1
                             : first >= 0xe0 && first <= 0xef ? 2
                             : first >= 0xf0 && first <= 0xf4 ? 3
                                                              : 4;
    if (more == 4 || i + more >= text.size()) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      if ((at(i + k) & 0xc0) != 0x80) return false;
    }
    const unsigned second = more > 0 ? at(i + 1) : 0;
    const bool is_odd = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                        (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    if (is_odd) return false;
    i += more + 1;
  }
  return true;
}

// True for text that may go to a terminal: UTF-8 without control characters.
JUDGE inline bool is_clean(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  }
  return is_utf8(text);
}

}  // namespace everywatt::base
