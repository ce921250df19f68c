// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <expected>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "catalog/row.h"
#include "device/nvml/abi.h"
#include "device/nvml/call.h"
#include "device/nvml/library.h"

namespace everywatt::nvml {

// What a question to the driver gave: a value, or the reason why there is none.
template <typename T>
using Answer = std::expected<T, catalog::State>;

// From the driver's unit to ours: value * times / by. Two numbers, since x / 100 is the double
// nearest to x percent and x * 0.01 often is not.
struct Scale {
  double times = 1;
  double by = 1;
};
inline constexpr Scale kSame{};
inline constexpr Scale kPercent{.by = 100};
inline constexpr Scale kMilli{.by = 1e3};
inline constexpr Scale kMicro{.by = 1e6};
inline constexpr Scale kNano{.by = 1e9};
inline constexpr Scale kMega{.times = 1e6};
inline constexpr Scale kKibi{.times = 1024};
inline constexpr Scale kMebi{.times = 1048576};

// One field of a batch: what is asked for, and what came.
struct Field {
  unsigned id = 0;
  unsigned scope = 0;
  abi::Return code = abi::Return::kUninitialized;
  bool is_signed = false;
  std::uint64_t bits = 0;  // the integer, widened; a 32-bit all-ones as a 64-bit one
};

class Device;

// A listing of a GPU's MIG instances.
struct MigInstances {
  std::vector<Device> named;
  std::vector<abi::Device> unnamed;  // there, but the driver failed to tell which they are
};

// One GPU or MIG instance as the driver gives it: a handle, its identity, and the way of its
// readings into rows. Refers to the library, which must outlive it. Belongs to one thread.
//
// A reading outside its physical range, and a number by which the driver says "not known", become
// kInvalid and are counted as rejected.
class Device {
 public:
  // The GPU at that place on the PCI bus ("0000:06:00.0"); touches no other GPU. `trace` is left by
  // every call from here on.
  static Answer<Device> open_at(Library& library, const std::string& pci_address,
                                const CallTrace& trace);
  // The GPU with that number. The driver may initialise others on the way.
  static Answer<Device> open_nth(Library& library, unsigned number, const CallTrace& trace);
  static Answer<unsigned> count(Library& library, const CallTrace& trace);

  // The MIG instances that it holds now; none unless MIG is on. An error: they could not be listed,
  // which says nothing about them.
  Answer<MigInstances> mig_instances();

  // Asks for its number, which is another one after the driver has ordered its GPUs anew. True: it
  // has changed.
  bool renumber();

  bool is_mig() const { return is_mig_; }
  const std::string& uuid() const { return uuid_; }
  const std::string& parent_uuid() const { return parent_uuid_; }  // of a MIG instance's GPU
  unsigned index() const { return index_; }
  unsigned gpu_instance_id() const { return gpu_instance_id_; }
  abi::Device handle() const { return handle_; }
  // Of the GPU that a MIG instance is a part of; a GPU's own.
  abi::Device gpu_handle() const { return gpu_handle_; }
  Library& library() const { return *library_; }
  const CallTrace& trace() const { return trace_; }
  // Its calls are counted there from now on; what it points to outlives the device.
  void count_into(CallTally& tally) { trace_.tally = &tally; }
  double power_limit_max_watts() const { return power_limit_max_watts_; }

  // What so many NVLinks together had carried when they were read.
  struct LinkTraffic {
    std::int64_t time_ns = 0;
    unsigned counts = 0;
    double bytes = 0;
  };
  // Keeps it; gives the one before, at first one without counts.
  LinkTraffic exchange_link_traffic(const LinkTraffic& now) {
    return std::exchange(link_traffic_, now);
  }

  // What the calls since the last question came to, beyond single readings: kLost (gone from the
  // bus; a destroyed MIG instance), kFailed (the driver was shut under us: open the library again),
  // else kOk.
  catalog::State take_condition() { return std::exchange(condition_, catalog::State::kOk); }

  template <Call kCall, typename... Args>
  abi::Return call(Args... args) {
    return note(library_->call<kCall>(trace_, handle_, args...));
  }
  template <Call kCall, typename... Args>
  abi::Return call_gpu(Args... args) {
    return note(library_->call<kCall>(trace_, gpu_handle_, args...));
  }
  // Fills `fields` with one call. An answer that stands behind a failed one in the batch may be
  // rubbish and is asked for again by itself; fields that fail leave the batch and are asked singly
  // from then on (rarely, while not supported).
  void read_fields(std::span<Field> fields);

  // Puts a number from the driver into `row` in the metric's unit; what `code` or the number itself
  // forbid becomes an absence. T is the driver's type, for its all-ones.
  template <typename T>
  void put(catalog::Row& row, catalog::MetricId id, abi::Return code, T number, Scale scale = kSame,
           unsigned instance = 0);
  void put(catalog::Row& row, catalog::MetricId id, const Field& field, Scale scale = kSame,
           unsigned instance = 0);
  void put_text(catalog::Row& row, catalog::MetricId id, abi::Return code, const char* text);
  // A value in the metric's unit already.
  void put_value(catalog::Row& row, catalog::MetricId id, double value, unsigned instance = 0);
  catalog::Reading reject();  // an invalid reading, counted

 private:
  struct Isolated {
    unsigned id = 0;
    unsigned scope = 0;
    abi::Return code{};
    unsigned skipped = 0;
  };

  Device(Library& library, abi::Device handle, const CallTrace& trace);
  static Answer<Device> identified(Device device);
  abi::Return note(abi::Return code);
  bool is_instance_gone();
  Isolated* find_isolated(const Field& field);
  void read_single(Field& field);
  void put_integer(catalog::Row& row, catalog::MetricId id, std::uint64_t number, Scale scale,
                   unsigned instance);

  Library* library_;
  abi::Device handle_;
  abi::Device gpu_handle_;
  CallTrace trace_;
  bool is_mig_ = false;
  std::string uuid_;
  std::string parent_uuid_;
  unsigned index_ = 0;
  unsigned gpu_instance_id_ = abi::kInstanceNone;
  double power_limit_max_watts_ = 0;
  LinkTraffic link_traffic_;
  catalog::State condition_ = catalog::State::kOk;
  std::vector<Isolated> isolated_;
};

// True for the numbers that mean "not known" in an answer of type T: all ones, and the topmost 16
// of the signed range, which the vendor's tools use as blanks.
template <typename T>
constexpr bool is_blank(T number) {
  using Signed = std::make_signed_t<T>;
  using Unsigned = std::make_unsigned_t<T>;
  const auto blank = static_cast<Unsigned>(std::numeric_limits<Signed>::max() - 15);
  const auto bits = static_cast<Unsigned>(number);
  const bool is_all_ones = std::is_unsigned_v<T> && bits == std::numeric_limits<Unsigned>::max();
  return is_all_ones || (sizeof(T) >= 4 && bits >= blank && bits - blank < 16);
}

template <typename T>
void Device::put(catalog::Row& row, catalog::MetricId id, abi::Return code, T number, Scale scale,
                 unsigned instance) {
  if (code != abi::Return::kSuccess) {
    return row.set_reading(id, catalog::Reading::absent(state_of(code)), instance);
  }
  if (is_blank(number)) return row.set_reading(id, reject(), instance);
  if constexpr (std::is_unsigned_v<T>) {
    put_integer(row, id, number, scale, instance);
  } else {
    put_value(row, id, static_cast<double>(number) * scale.times / scale.by, instance);
  }
}

}  // namespace everywatt::nvml
