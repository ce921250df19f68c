// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// What the tests of fuzzers start from, in tests/corpus/<fuzzer>.
namespace everywatt::base {

inline void change_somewhere(std::string& bytes, std::minstd_rand& random) {
  const auto below = [&random](std::size_t end) { return random() % end; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    if (bytes.empty()) bytes = "x";
    const std::size_t place = below(bytes.size());
    switch (below(5)) {
      case 0:
        bytes[place] = static_cast<char>(below(256));
        break;
      case 1:
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << below(8)));
        break;
      case 2:
        bytes.erase(place, 1 + below(16));
        break;
      case 3:
        bytes.insert(place, bytes.substr(below(bytes.size()), 1 + below(32)));
        break;
      default:
        bytes.insert(place, 1 + below(4), static_cast<char>(below(2) == 0 ? 0xff : 0));
    }
  }
}

// Calls `target` with each file of the folder, and with changed ones: the same at each run. Returns
// how many files there were.
inline std::size_t replay_corpus(const std::string& folder, void (*target)(std::string_view)) {
  constexpr int kChanged = 50;
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& each : std::filesystem::directory_iterator(folder, error)) {
    paths.push_back(each.path());
  }
  std::ranges::sort(paths);
  std::minstd_rand random(1);
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    const std::string seed{std::istreambuf_iterator<char>(file), {}};
    target(seed);
    for (int i = 0; i < kChanged; ++i) {
      std::string changed = seed;
      change_somewhere(changed, random);
      target(changed);
    }
  }
  return paths.size();
}

}  // namespace everywatt::base
