// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "record/sampler/gpu_watch.h"

namespace everywatt::sampler {

// The GPUs that are watched. It grows while several threads go through it; nothing ever leaves it,
// so what all() gives stays valid for as long as the list.
class GpuList {
 public:
  GpuWatch& add(std::unique_ptr<GpuWatch> gpu) {
    const std::lock_guard lock(mutex_);
    return *gpus_.emplace_back(std::move(gpu));
  }
  std::vector<GpuWatch*> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<GpuWatch*> gpus;
    for (const std::unique_ptr<GpuWatch>& gpu : gpus_)
      gpus.push_back(gpu.get());
    return gpus;
  }
  // The one at that place, or null.
  GpuWatch* find(unsigned number) const {
    for (GpuWatch* const gpu : all()) {
      if (gpu->number() == number) return gpu;
    }
    return nullptr;
  }
  bool is_empty() const {
    const std::lock_guard lock(mutex_);
    return gpus_.empty();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<GpuWatch>> gpus_;
};

}  // namespace everywatt::sampler
