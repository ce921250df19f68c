// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "device/nvml/events.h"
#include "device/nvml/library.h"
#include "record/sampler/backoff.h"
#include "record/sampler/device_lanes.h"
#include "record/sampler/faults.h"
#include "record/sampler/gpu_roster.h"

namespace everywatt::sampler {

// One GPU of the machine with its MIG instances: finds it, reads its lanes, notices when it is
// lost, looks for it again. What goes wrong here touches no other GPU. run() and run_due() belong
// to one thread; what it is told of the GPU (set_presence(), move_to(), on_event()) and what it is
// asked may come from any.
class GpuWatch {
 public:
  struct Place {
    std::string pci_address;  // empty: NVML's number is all that is known
    unsigned number = 0;      // in the list of GPUs
    std::uint32_t slot = 0;
  };
  // Takes the rings of the slot. The MIG instances' rings are taken when there are instances.
  static base::Result<std::unique_ptr<GpuWatch>> open(const Shared& shared, const Place& place);

  // The driver is there; `events` may be null. Until detach() both must stay.
  void attach(nvml::Library& library, nvml::EventSet* events);
  // The driver's events can be waited for only now; from any thread. Until detach() they must stay.
  void use_events(nvml::EventSet& events);
  // Lets go of everything that is the driver's.
  void detach();

  // Does what is due now; next_ns() is when to come again.
  void run_due();
  std::int64_t next_ns() const;
  // run_due() at its times, until asked to stop or the driver has to be opened anew.
  void run(const std::stop_token& stop);

  // Finds the GPU and reads all its lanes once; the second half of a GPM window is take_gpm()'s.
  void read_all();
  void take_gpm();

  // Whether the kernel lists it. One that is not listed is `gone`, and its driver is not asked.
  void set_presence(Presence presence);
  bool is_present() const { return is_present_.load(std::memory_order_acquire); }
  // It is a GPU that was plugged in just now.
  void set_new();
  // The GPU of this place is at that address now. Empty: the place is free.
  void move_to(const std::string& pci_address);
  // The place where the GPU belongs that was found here: it has another address than before.
  std::optional<unsigned> belongs_to() const;
  // The GPU's number is asked for soon: the order may have changed.
  void renumber_soon();
  // The driver does not know the GPU that has come to the bus since the driver was opened.
  bool wants_driver_anew() const { return wants_driver_anew_.load(std::memory_order_relaxed); }

  // Whether the driver said that it was shut down under us.
  bool is_driver_gone() const { return is_driver_gone_.load(std::memory_order_relaxed); }
  // True when the blocking PCIe call has to be made for it.
  bool wants_pcie() const { return wants_pcie_.load(std::memory_order_relaxed); }
  bool has_handle(nvml::abi::Device handle) const {
    return handle != nullptr && handle_.load(std::memory_order_acquire) == handle;
  }
  // True while it may ask for its events. The driver lets it do so only while nobody waits for any.
  bool is_opening() const { return is_opening_.load(std::memory_order_acquire); }
  // Records an event of the driver's about this GPU, and has the lanes read that it concerns.
  void on_event(const nvml::Event& event);

  DeviceLanes& lanes() { return *lanes_; }
  Place place() const;
  unsigned number() const { return place_.number; }
  std::uint32_t slot() const { return place_.slot; }

 private:
  // kElsewhere: the GPU here belongs to another place.
  enum class Condition { kClosed, kOpen, kSuspended, kGone, kElsewhere };

  GpuWatch(const Shared& shared, const Place& place, std::unique_ptr<DeviceLanes> lanes,
           recorder::Writer faults);
  bool is_suspended() const;
  void reset_condition();
  bool is_silent_on_bus() const;
  bool is_to_be_read(std::int64_t now_ns);
  void take_place();
  void leave(std::int64_t now_ns);
  void try_open(std::int64_t now_ns);
  void register_events(std::int64_t now_ns);
  void tell_opened();
  void renumber(std::int64_t now_ns);
  void close(catalog::State why, std::int64_t now_ns);
  void set_status(recorder::DeviceStatus status, std::int64_t now_ns);
  void take_wishes();
  static bool is_listed(const nvml::MigInstances& listed, const nvml::Device& instance);
  catalog::State refresh_migs(std::int64_t now_ns);
  void run_migs();
  DeviceLanes* lanes_for_mig(const nvml::Device& instance);
  void wake();

  const Shared shared_;
  Place place_;  // its address is changed by the thread of run_due(), under mutex_
  const std::unique_ptr<DeviceLanes> lanes_;
  FaultCounts faults_;

  nvml::Library* library_ = nullptr;
  Condition condition_ = Condition::kClosed;
  Backoff backoff_;
  bool has_registered_ = false;  // for events, or it has none
  Backoff registering_;
  std::int64_t power_checked_ns_ = 0;
  std::int64_t migs_checked_ns_ = 0;
  std::vector<std::unique_ptr<DeviceLanes>> migs_;  // one a MIG slot that was ever used
  bool was_lost_ = false;                           // and an event has said so
  bool was_gone_ = false;
  bool was_silent_ = false;
  bool may_renew_driver_ = false;  // it came to the bus after the driver was opened
  std::int64_t renumbered_ns_ = 0;

  std::atomic<nvml::EventSet*> events_{nullptr};
  std::atomic<nvml::abi::Device> handle_{nullptr};
  std::atomic<bool> wants_pcie_{false};
  std::atomic<bool> is_opening_{false};
  std::atomic<bool> is_driver_gone_{false};
  // What the event thread asks for.
  std::atomic<bool> wants_rows_{false};
  std::atomic<bool> wants_migs_{false};
  mutable std::mutex mutex_;
  std::condition_variable_any woken_;
  bool is_woken_ = false;                      // guarded by mutex_
  std::optional<std::string> wished_address_;  // guarded by mutex_
  std::atomic<bool> is_present_{true};
  std::atomic<bool> is_new_{false};
  std::atomic<bool> wants_number_{false};
  std::atomic<bool> wants_driver_anew_{false};
  std::atomic<int> belongs_to_{-1};
};

}  // namespace everywatt::sampler
