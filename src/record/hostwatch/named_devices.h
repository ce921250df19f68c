// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/row.h"
#include "record/hostwatch/complaints.h"
#include "record/recorder/reader.h"
#include "record/recorder/writer.h"

namespace everywatt::hostwatch {

// The devices of one scope that have names: disks, network interfaces, InfiniBand ports. A name
// gets a slot at first sight and keeps it, also over a restart of this process; what is no longer
// seen is marked gone and its slot waits for it. Names beyond the slots are left out, once said in
// the log.
class NamedDevices {
 public:
  // `name` is the scope's text metric of lane kOnce.
  NamedDevices(recorder::File& file, const recorder::Reader& reader, catalog::Scope scope,
               catalog::MetricId name);

  // Between these two, each device that is there is written once.
  void begin_tick(std::int64_t now_ns);
  void end_tick();

  // A clear row of lane kHost for `device`, to be filled and given to append(). Null: no slot left.
  catalog::Row* start(std::string_view device, Complaints& complaints);
  void append();

 private:
  struct Known {
    std::string name;
    std::uint32_t slot = 0;
    recorder::Writer rows;
    bool is_seen = false;
  };
  Known* find(std::string_view device, Complaints& complaints);
  Known* take_slot(std::string_view device, Complaints& complaints);

  recorder::File& file_;
  catalog::Scope scope_;
  catalog::MetricId name_;
  std::vector<Known> known_;  // tens at most: linear search
  std::vector<std::uint32_t> free_slots_;
  catalog::Row row_;
  Known* current_ = nullptr;
  std::int64_t now_ns_ = 0;
};

}  // namespace everywatt::hostwatch
