// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/unique_fd.h"
#include "read/view/view.h"
#include "record/recorder/layout.h"
#include "record/recorder/writer.h"

namespace everywatt::view {

inline constexpr std::int64_t kMs = 1'000'000;
inline constexpr std::int64_t kSecond = 1'000 * kMs;

struct MachineShape {
  unsigned gpus = 1;
  unsigned migs_per_gpu = 0;
  std::string path = {};  // empty: in memory
};

// A machine with GPUs in a recorder file of a test's own, in memory or under a name, that the test
// writes row by row.
class Machine {
 public:
  using Shape = MachineShape;

  explicit Machine(const Shape& shape = {}) {
    recorder::LayoutOptions layout = recorder::live_layout({.gpus = shape.gpus,
                                                            .spare_gpus = 0,
                                                            .migs_per_gpu = shape.migs_per_gpu,
                                                            .disks = 1,
                                                            .interfaces = 1,
                                                            .infiniband_ports = 0});
    // Owners lie in the same file, as in a recording.
    layout.capacity[static_cast<unsigned>(catalog::Scope::kNode)]
                   [static_cast<unsigned>(catalog::Lane::kIdentity)] = 64;
    auto file = shape.path.empty() ? recorder::File::create_anonymous(layout)
                                   : recorder::File::create(shape.path, 0644, layout);
    CHECK(file);
    file_ = std::move(*file);
    gpus_ = file_->slots(catalog::Scope::kGpu);
    for (std::uint32_t index = 0; index < gpus_.size(); ++index) {
      file_->device(gpus_[index]).index.store(index);
      file_->set_status(gpus_[index], recorder::DeviceStatus::kOk, kSecond);
    }
  }

  recorder::File& file() { return *file_; }
  std::uint32_t gpu(unsigned index = 0) const { return gpus_[index]; }
  std::uint32_t mig(unsigned gpu, unsigned index) const {
    return file_->slots(catalog::Scope::kGpu, gpus_[gpu])[index];
  }
  std::uint32_t first(catalog::Scope scope) const { return file_->slots(scope).front(); }

  // One row, filled by `fill(row)`.
  template <typename Fill>
  void add(std::uint32_t slot, catalog::Scope scope, catalog::Lane lane, std::int64_t time_ns,
           Fill&& fill) {
    catalog::Row row(scope, lane);
    row.time_ns = time_ns;
    fill(row);
    writer(slot, lane).append(row);
  }
  template <typename Fill>
  void add_gpu(unsigned index, catalog::Lane lane, std::int64_t time_ns, Fill&& fill) {
    add(gpu(index), catalog::Scope::kGpu, lane, time_ns, std::forward<Fill>(fill));
  }
  // A gauge row with one reading.
  void add_power(unsigned index, std::int64_t time_ns, double watts) {
    add_gpu(index, catalog::Lane::kGauge, time_ns,
            [&](catalog::Row& row) { row.set(catalog::MetricId::gpu_power_watts, watts); });
  }
  void name_gpu(unsigned index, std::int64_t time_ns, const std::string& uuid,
                const std::string& address) {
    name_slot(gpu(index), time_ns, uuid, address);
  }
  void name_slot(std::uint32_t slot, std::int64_t time_ns, const std::string& uuid,
                 const std::string& address) {
    add(slot, catalog::Scope::kGpu, catalog::Lane::kOnce, time_ns, [&](catalog::Row& row) {
      row.set_text(catalog::MetricId::gpu_name, "NVIDIA H200");
      row.set_text(catalog::MetricId::gpu_uuid, uuid);
      row.set_text(catalog::MetricId::gpu_pci_address, address);
    });
  }

  recorder::Writer& writer(std::uint32_t slot, catalog::Lane lane) {
    const auto key = std::pair(slot, lane);
    const auto known = writers_.find(key);
    if (known != writers_.end()) return known->second;
    auto writer = file_->writer(slot, lane);
    CHECK(writer);
    return writers_.emplace(key, *writer).first->second;
  }

  // Reads what was written. Without a time: now is the last row.
  std::unique_ptr<View> view() const { return view_with({}); }
  std::unique_ptr<View> view(std::int64_t now_ns) const {
    return view_with([now_ns] { return now_ns; });
  }
  std::unique_ptr<View> view_with(base::Clock clock) const {
    auto reader =
        recorder::Reader::adopt(base::UniqueFd(::fcntl(file_->fd(), F_DUPFD_CLOEXEC, 0)), "test");
    CHECK(reader);
    return View::adopt(std::move(*reader), nullptr, std::move(clock));
  }

 private:
  std::unique_ptr<recorder::File> file_;
  std::vector<std::uint32_t> gpus_;
  std::map<std::pair<std::uint32_t, catalog::Lane>, recorder::Writer> writers_;
};

}  // namespace everywatt::view
