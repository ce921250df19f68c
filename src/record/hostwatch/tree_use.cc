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
  // What could not be read this time goes on from where it was.
  const auto next = [](const ProcessUse& now, const ProcessUse& before) {
    ProcessUse use = now;
    if (!use.read_bytes) use.read_bytes = before.read_bytes;
    if (!use.written_bytes) use.written_bytes = before.written_bytes;
    return use;
  };
  last_main_ = next(main, last_main_);
  std::map<std::uint64_t, ProcessUse> next_children;
  for (const ProcessUse& child : children) {
    const auto before = last_children_.find(child.key);
    next_children.emplace(child.key,
                          before == last_children_.end() ? child : next(child, before->second));
  }
  last_children_ = std::move(next_children);
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
  // What ended children had read was counted while they lived, and comes again with whoever waited
  // for them: who inherited their CPU time.
  std::uint64_t again = 0;
  for (const auto& [key, child] : last_children_) {
    if (has_ended(key, children)) again += (child.*member).value_or(0);
  }
  const auto own_growth = [&](const ProcessUse& before, const ProcessUse& after) {
    const std::uint64_t grown = growth((before.*member).value_or(0), (after.*member).value_or(0));
    const bool has_inherited = after.ended_children_seconds > before.ended_children_seconds;
    const std::uint64_t inherited = has_inherited ? std::min(again, grown) : 0;
    again -= inherited;
    return grown - inherited;
  };
  bytes.main = bytes.main ? *bytes.main + own_growth(last_main_, main) : *(main.*member);
  std::uint64_t used = 0;
  for (const ProcessUse& child : children) {
    const auto before = last_children_.find(child.key);
    used += before == last_children_.end() ? (child.*member).value_or(0)
                                           : own_growth(before->second, child);
  }
  bytes.children = bytes.children.value_or(0) + used;
}

}  // namespace everywatt::hostwatch
