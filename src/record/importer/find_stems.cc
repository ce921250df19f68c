// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "record/importer/importer.h"

namespace everywatt::importer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kGpuSuffix = ".gpu.csv.gz";
constexpr std::string_view kSuffixes[] = {kGpuSuffix, ".processes.csv.gz", ".host.csv.gz",
                                          ".steps.jsonl.gz", ".owners.json"};

std::vector<std::string> stems_in(const std::string& folder) {
  std::vector<std::string> stems;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    std::string path = entry.path().string();
    if (!path.ends_with(kGpuSuffix)) continue;
    path.resize(path.size() - kGpuSuffix.size());
    stems.push_back(std::move(path));
  }
  std::sort(stems.begin(), stems.end());
  return stems;
}

std::string without_suffix(const std::string& word) {
  for (const std::string_view suffix : kSuffixes) {
    if (word.ends_with(suffix)) return word.substr(0, word.size() - suffix.size());
  }
  return word;
}

}  // namespace

base::Result<std::vector<std::string>> find_stems(const std::vector<std::string>& words) {
  std::vector<std::string> stems;
  for (const std::string& word : words) {
    std::error_code error;
    if (fs::is_directory(word, error)) {
      const std::vector<std::string> found = stems_in(word);
      if (found.empty()) {
        return base::fail(base::Code::kNotFound, word + ": no traces (NAME.gpu.csv.gz) there");
      }
      stems.insert(stems.end(), found.begin(), found.end());
      continue;
    }
    std::string stem = without_suffix(word);
    const std::string file = fmt::format("{}{}", stem, kGpuSuffix);
    if (!fs::exists(file, error)) {
      return base::fail(base::Code::kNotFound,
                        fmt::format("no trace '{}' (no file {})", word, file));
    }
    stems.push_back(std::move(stem));
  }
  return stems;
}

}  // namespace everywatt::importer
