// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "record/recorder/writer.h"

namespace everywatt::sampler {

// Whether the kernel lists a GPU on its bus.
enum class Presence { kAbsent, kPresent };

// Which GPU has which place, a place being a GPU slot of the file counted from 0. A GPU keeps its
// place for as long as it is on the bus, over restarts of the sampler, and when it comes back; by
// its UUID also at another address. Thread-safe.
class GpuRoster {
 public:
  // Takes over what the rows of earlier samplers tell of the slots.
  explicit GpuRoster(const recorder::File& file);

  // The place of the GPU at that address ("0000:06:00.0"), which is on the bus now: the one that it
  // has, a free one, or that of a GPU which is gone for a quarter of an hour. Nothing: none is
  // left.
  std::optional<unsigned> take(const std::string& address, std::int64_t now_ns);
  // The place of a GPU with that UUID that is not on the bus; nothing: there is none.
  std::optional<unsigned> find_absent(const std::string& uuid) const;
  // What was at `from` is the GPU of `to`, at a new address; `from` is free.
  void move(unsigned from, unsigned to);

  void set_uuid(unsigned place, const std::string& uuid);
  void set_presence(unsigned place, Presence presence, std::int64_t now_ns);
  // "": a free place, or one whose address is not known.
  std::string address(unsigned place) const;
  unsigned size() const { return static_cast<unsigned>(entries_.size()); }

 private:
  struct Entry {
    std::string address;
    std::string uuid;
    bool is_present = false;
    bool is_used = false;
    std::int64_t gone_ns = 0;
  };

  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

// "0000:06:00.0", as sysfs writes it, of what the driver writes: "00000000:06:00.0".
std::string sysfs_address(const std::string& driver_address);

}  // namespace everywatt::sampler
