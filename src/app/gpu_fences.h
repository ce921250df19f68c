// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "app/backoff.h"

namespace everywatt::app {

// Which GPUs are left alone because a driver call about them hung or crashed, and until when. GPUs
// are device slots. Knows no clock: the time is what the caller says.
class GpuFences {
 public:
  // How long a GPU is left alone at first; doubled each time that it fails again, up to ten
  // minutes, and short again after it went well for half an hour.
  explicit GpuFences(std::int64_t first_ns) : first_ns_(first_ns) {}

  void raise(std::uint32_t gpu, std::int64_t now_ns);
  // A crash of the library in a call about it. True: the second one within a minute, and the fence
  // is up now.
  bool note_crash(std::uint32_t gpu, std::int64_t now_ns);
  // Takes down the fences whose time has come, but not those of GPUs that `is_held` names. True:
  // there were some.
  bool lower_due(std::int64_t now_ns, const std::function<bool(std::uint32_t)>& is_held);
  // Takes all of them down but those, and forgets the past.
  void lower_all(const std::function<bool(std::uint32_t)>& is_held);

  bool is_up(std::uint32_t gpu) const;
  std::vector<std::uint32_t> gpus() const;  // those with a fence, in order
  std::int64_t retry_at_ns(std::uint32_t gpu) const { return fences_.at(gpu).retry_at_ns; }

 private:
  struct Fence {
    explicit Fence(std::int64_t first_ns);
    Backoff backoff;
    std::int64_t retry_at_ns = 0;
    std::int64_t lowered_ns = 0;
    std::int64_t crashed_ns = 0;  // 0: never
    bool is_up = false;
  };
  Fence& fence(std::uint32_t gpu) { return fences_.try_emplace(gpu, first_ns_).first->second; }

  std::int64_t first_ns_;
  std::map<std::uint32_t, Fence> fences_;
};

}  // namespace everywatt::app
