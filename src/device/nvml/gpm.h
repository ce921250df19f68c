// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "catalog/row.h"
#include "device/nvml/device.h"

namespace everywatt::nvml {

// What else is known of the GPU over a window, against which dead performance counters stand out.
enum class Elsewhere { kIdle, kBusy, kUnknown };

// The performance counters (GPM) of one device. A value is formed between two samples whose
// counters moved, and stands for the window between them; the driver refreshes each 100 ms, and
// samples of one refresh give zeros that mean nothing. Taking a sample costs 0.2 ms, forming values
// 1 ms (for one metric as for all).
//
// Holds two samples of the driver's; the device and its library must outlive it. One thread.
class Gpm {
 public:
  // Allocates the samples. kNotSupported: a GPU before Hopper, or a library without the functions.
  static Answer<Gpm> open(Device& device);
  Gpm(Gpm&& other) noexcept;
  Gpm& operator=(Gpm&& other) noexcept;
  ~Gpm();

  // Takes a sample now (boottime). The first one only opens a window; a later one closes it, in
  // place of an earlier sample that closed it and was not used.
  catalog::State take(std::int64_t now_ns);
  // Forms the values of the open window into `row` (lane kGpm), with window and time set, and
  // begins the next window at its end. kNoNewValue: no window yet, or the counters did not move in
  // it - the window stays open and grows; the row is untouched. With `elsewhere` busy, a window in
  // which no engine worked is one that did not move. Else the reason why there are no values.
  catalog::State form(catalog::Row& row, Elsewhere elsewhere);
  // Forgets the open window: after a gap that no value should span.
  void reset();

  std::int64_t window_start_ns() const { return older_ns_; }  // 0: none open
  std::int64_t window_end_ns() const { return newer_ns_; }    // 0: not closed

 private:
  // What is asked for: a metric of the driver's and the cell where it goes.
  struct Cell {
    unsigned gpm_id = 0;
    catalog::MetricId metric{};
    unsigned instance = 0;
    Scale scale;
  };
  struct Refused {
    Cell cell;
    catalog::State why{};
  };

  explicit Gpm(Device& device) : device_(&device) {}
  static std::vector<Cell> list_cells();
  void leave_out_links();
  void put_metrics(catalog::Row& row);

  Device* device_;
  // What the driver refused is not asked for again until the next open().
  std::vector<Cell> asked_;
  std::vector<Refused> refused_;
  abi::GpmSample older_ = nullptr;
  abi::GpmSample newer_ = nullptr;
  std::int64_t older_ns_ = 0;
  std::int64_t newer_ns_ = 0;
  // 7 kB, and the driver wants it whole at each question.
  std::unique_ptr<abi::GpmMetricsGet> request_;
};

}  // namespace everywatt::nvml
