// SPDX-License-Identifier: Apache-2.0
#include "serve/exporter/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

#include "base/text.h"
#include "read/view/device.h"
#include "serve/exporter/exposition.h"
#include "serve/exporter/families.h"
#include "serve/exporter/plan.h"
#include "serve/exporter/samples.h"

namespace everywatt::exporter {
namespace {

constexpr std::array<std::pair<std::string_view, Names>, 4> kNames{
    {{"native", Names::kNative},
     {"dcgm", Names::kDcgm},
     {"dcgm-legacy", Names::kDcgmLegacy},
     {"self", Names::kSelf}}};

bool is_wished(const Target& target, const std::vector<std::uint32_t>& gpus) {
  const view::Device& device = target.device;
  if (device.scope != catalog::Scope::kGpu) return true;
  return std::ranges::find(gpus, device.parent.value_or(device.slot)) != gpus.end() ||
         std::ranges::find(gpus, device.slot) != gpus.end();
}

Plan narrowed(const Plan& plan, const std::vector<std::uint32_t>& gpus) {
  Plan narrow;
  std::ranges::copy_if(plan.targets, std::back_inserter(narrow.targets),
                       [&](const Target& target) { return is_wished(target, gpus); });
  return narrow;
}

}  // namespace

base::Result<NameSets> parse_names(std::string_view text) {
  NameSets sets = 0;
  for (const std::string_view word : base::split(text, ',')) {
    const std::string_view name = base::trim(word);
    bool is_known = false;
    for (const auto& [known, names] : kNames) {
      if (name != known) continue;
      sets = static_cast<NameSets>(sets | static_cast<NameSets>(names));
      is_known = true;
    }
    if (!is_known) {
      return base::fail(base::Code::kInvalidArgument,
                        fmt::format("no names '{}': there are native, dcgm, dcgm-legacy, self",
                                    base::clean_text(name, 40)));
    }
  }
  return sets;
}

struct Encoder::State {
  Options options;
  std::vector<Family> families = make_families();
  Plan plan;
  view::LastGood last_good;
  std::optional<std::uint64_t> planned_changes;
};

Encoder::Encoder(Options options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
Encoder::~Encoder() = default;
Encoder::Encoder(Encoder&&) noexcept = default;
Encoder& Encoder::operator=(Encoder&&) noexcept = default;

void Encoder::encode(const view::View& view, const Wish& wish, Exposition& out) {
  const std::uint64_t changes = view::device_changes(view);
  if (state_->planned_changes != changes) {
    state_->plan = make_plan(view, state_->options);
    state_->last_good = {};
    state_->planned_changes = changes;
  }
  if (wish.gpus.empty()) return append(view, state_->plan, wish.names, out);
  append(view, narrowed(state_->plan, wish.gpus), wish.names, out);
}

void Encoder::append(const view::View& view, const Plan& plan, NameSets names, Exposition& out) {
  if (has(names, Names::kNative)) {
    append_native(view, plan, state_->families, state_->options.processes_a_gpu, out);
  }
  if (has(names, Names::kDcgm)) {
    const auto native = has(names, Names::kNative) ? std::span<const Family>(state_->families)
                                                   : std::span<const Family>();
    append_dcgm(view, plan, state_->options, native, out);
  }
  if (has(names, Names::kDcgmLegacy)) append_dcgm_legacy(view, plan, out);
  if (has(names, Names::kSelf)) {
    append_self(view, plan, state_->families, state_->last_good, out);
  }
}

}  // namespace everywatt::exporter
