// SPDX-License-Identifier: Apache-2.0
#include "device/host/labels.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "device/host/lines.h"

namespace everywatt::host {
namespace {

constexpr std::size_t kValueBytes = 64;
// The whole family SLURM_JOB_* would also bring node lists and comments, which are long and
// private.
constexpr std::array<std::string_view, 6> kSlurm = {"SLURM_JOB_ACCOUNT", "SLURM_JOB_ID",
                                                    "SLURM_JOB_NAME",    "SLURM_JOB_PARTITION",
                                                    "SLURM_JOB_USER",    "SLURM_STEP_ID"};

}  // namespace

std::string_view find_variable(std::string_view environ, std::string_view name) {
  while (!environ.empty()) {
    std::string_view variable = take_until(environ, '\0');
    if (take_until(variable, '=') == name) return variable;
  }
  return {};
}

std::string format_labels(std::string_view environ, std::span<const std::string> chosen) {
  std::vector<std::string> labels;
  while (!environ.empty()) {
    std::string_view value = take_until(environ, '\0');
    const std::string_view name = take_until(value, '=');
    const bool is_wanted =
        std::ranges::find(kSlurm, name) != kSlurm.end() ||
        std::ranges::any_of(chosen, [&](const std::string& one) { return one == name; });
    if (!is_wanted || name.empty()) continue;
    std::string text = base::clean_text(value, kValueBytes);
    std::ranges::replace(text, ' ', '_');
    labels.push_back(std::string(name) + "=" + text);
  }
  std::ranges::sort(labels);
  std::string all;
  for (const std::string& label : labels) {
    if (!all.empty()) all += ' ';
    all += label;
  }
  return all;
}

}  // namespace everywatt::host
