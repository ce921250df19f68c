// SPDX-License-Identifier: Apache-2.0
#include "app/selection.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace everywatt::app {
namespace {

base::Result<std::vector<std::string>> expand_groups(const Config& config,
                                                     std::span<const std::string> words) {
  std::vector<std::string> expanded;
  for (const std::string& word : words) {
    if (!word.starts_with('@')) {
      expanded.push_back(word);
      continue;
    }
    const auto group = config.groups.find(word.substr(1));
    if (group == config.groups.end()) {
      std::vector<std::string_view> known;
      for (const auto& [name, members] : config.groups) {
        known.push_back(name);
      }
      const auto near = base::nearest(std::string_view(word).substr(1), known);
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("--gpu: the configuration has no group '{}'", word),
                        near ? fmt::format("did you mean '@{}'?", *near)
                             : "groups are in the section [groups] of everywatt.toml");
    }
    expanded.insert(expanded.end(), group->second.begin(), group->second.end());
  }
  return expanded;
}

}  // namespace

base::Result<std::vector<catalog::MetricId>> find_metrics(std::span<const std::string> words) {
  std::vector<catalog::MetricId> metrics;
  for (const std::string& word : words) {
    auto id = catalog::find_metric(word);
    if (!id) {
      id.error().code = base::Code::kInvalidArgument;
      return std::unexpected(id.error());
    }
    metrics.push_back(*id);
  }
  return metrics;
}

base::Result<std::vector<view::Device>> select_gpus(const view::View& view, const Config& config,
                                                    std::span<const std::string> words) {
  if (words.empty()) return view::present_gpus(view);
  std::vector<view::Device> all = view::gpus(view);
  const auto expanded = expand_groups(config, words);
  if (!expanded) return std::unexpected(expanded.error());
  std::vector<std::uint32_t> slots;
  for (const std::string& word : *expanded) {
    auto found = view::find_gpu(all, word);
    if (!found) {
      found.error().code = base::Code::kInvalidArgument;
      return std::unexpected(found.error());
    }
    slots.push_back(found->slot);
  }
  std::erase_if(all, [&slots](const view::Device& device) {
    return std::find(slots.begin(), slots.end(), device.slot) == slots.end();
  });
  return all;
}

std::vector<view::Device> devices_with(const view::View& view, catalog::MetricId id,
                                       std::span<const view::Device> gpus) {
  const catalog::Scope scope = catalog::metric(id).scope;
  if (scope == catalog::Scope::kGpu) return {gpus.begin(), gpus.end()};
  return view::devices(view, scope);
}

}  // namespace everywatt::app
