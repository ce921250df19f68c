// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/tree_use.h"

#include <algorithm>

namespace everywatt::hostwatch {
namespace {

double growth(double before, double after) {
  return std::max(0.0, after - before);
}
std::uint64_t growth(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

}  // namespace

void TreeUse::advance(const ProcessUse& main, std::span<const ProcessUse> children) {
  advance_cpu(main, children);
  advance_bytes(read_, &ProcessUse::read_bytes, main, children);
  advance_bytes(written_, &ProcessUse::written_bytes, main, children);
  is_started_ = true;
  last_main_ = main;
  last_children_.clear();
  for (const ProcessUse& child : children)
    last_children_.emplace(child.key, child);
}

bool TreeUse::has_ended(std::uint64_t key, std::span<const ProcessUse> children) const {
  return std::ranges::none_of(children, [&](const ProcessUse& one) { return one.key == key; });
}

void TreeUse::advance_cpu(const ProcessUse& main, std::span<const ProcessUse> children) {
  main_cpu_seconds_ = std::max(main_cpu_seconds_, main.cpu_seconds);
  double used = 0;  // by those that are there
  double inherited = growth(last_main_.ended_children_seconds, main.ended_children_seconds);
  for (const ProcessUse& child : children) {
    const auto before = last_children_.find(child.key);
    if (before == last_children_.end()) {
      used += child.cpu_seconds + child.ended_children_seconds;
    } else {
      used += growth(before->second.cpu_seconds, child.cpu_seconds);
      inherited += growth(before->second.ended_children_seconds, child.ended_children_seconds);
    }
  }
  // A child that ended hands on all that it used, of which we have seen all but the end.
  double seen = 0;
  for (const auto& [key, child] : last_children_) {
    if (has_ended(key, children)) seen += child.cpu_seconds + child.ended_children_seconds;
  }
  children_cpu_seconds_ += used + growth(seen, inherited);
}

void TreeUse::advance_bytes(Bytes& bytes, Member member, const ProcessUse& main,
                            std::span<const ProcessUse> children) {
  if (!(main.*member)) return;
  std::uint64_t used_by_main =
      bytes.main ? growth((last_main_.*member).value_or(0), *(main.*member)) : *(main.*member);
  std::uint64_t used = 0;
  std::uint64_t new_children = 0;
  for (const ProcessUse& child : children) {
    const auto before = last_children_.find(child.key);
    const std::uint64_t now = (child.*member).value_or(0);
    if (before == last_children_.end()) {
      new_children += now;
    } else {
      used += growth((before->second.*member).value_or(0), now);
    }
  }
  // What ended children had read was counted while they lived and now comes again with whoever
  // waited for them: mostly the main process, else one of the children.
  std::uint64_t again = 0;
  for (const auto& [key, child] : last_children_) {
    if (has_ended(key, children)) again += (child.*member).value_or(0);
  }
  const std::uint64_t from_main = std::min(again, used_by_main);
  if (bytes.main) used_by_main -= from_main;
  const std::uint64_t from_children = std::min(again - from_main, used);
  bytes.main = bytes.main.value_or(0) + used_by_main;
  bytes.children = bytes.children.value_or(0) + used - from_children + new_children;
}

}  // namespace everywatt::hostwatch
