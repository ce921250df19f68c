// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "device/host/kernel_fault.h"
#include "device/host/kernel_log.h"
#include "record/hostwatch/complaints.h"
#include "record/hostwatch/event_writer.h"
#include "record/hostwatch/process_rows.h"
#include "record/recorder/reader.h"

namespace everywatt::hostwatch {

// Makes events of what the kernel's log says about GPUs, at once while it is watched. At its start
// it takes what was said since `faults_since_ns`, so that a fault is told that came while we were
// not there. Lines that repeat (same GPU, code and process) are told once a second, with their
// number.
class KernelWatch {
 public:
  struct Options {
    std::string path;
    std::int64_t faults_since_ns = 0;
  };
  KernelWatch(Options options, const recorder::Reader& reader, ProcessRows& processes,
              EventWriter& events);

  // Takes the records that have come. Opens the log first where it could not be opened before.
  void take(const ProcessRows::Moment& moment, Complaints& complaints);
  // Tells repeats whose second is over, and faults that waited for their GPU to be known.
  void tick(const ProcessRows::Moment& moment, Complaints& complaints);

  int poll_fd() const { return log_ ? log_->poll_fd() : -1; }
  std::uint64_t lost() const { return log_ ? log_->lost() + dropped_ : dropped_; }

 private:
  struct Fault {
    host::KernelFault what;
    std::string line;
    std::int64_t time_ns = 0;
  };
  // Kind, GPU, code, process.
  using Key = std::tuple<host::KernelFault::Kind, std::string, std::uint32_t, std::uint32_t>;
  struct Repeats {
    std::int64_t told_ns = 0;
    std::uint64_t untold = 0;
    Fault last;
  };
  void open(const ProcessRows::Moment& moment, Complaints& complaints);
  void take_record(const host::KernelRecord& record, const ProcessRows::Moment& moment);
  void receive(Fault fault, const ProcessRows::Moment& moment);
  void tell(const Fault& fault, std::uint64_t times, const ProcessRows::Moment& moment);
  bool concerns_us(const host::KernelFault& fault) const;
  std::optional<std::uint32_t> find_gpu(const std::string& pci_address);
  bool knows_gpus();

  Options options_;
  const recorder::Reader& reader_;
  ProcessRows& processes_;
  EventWriter& events_;
  std::optional<host::KernelLog> log_;
  std::int64_t next_open_ns_ = 0;
  std::optional<std::int64_t> opened_ns_;
  bool is_live_ = false;  // what was there at the start is read
  std::vector<host::KernelRecord> records_;
  std::deque<Fault> waiting_;
  std::map<Key, Repeats> repeats_;
  std::uint64_t dropped_ = 0;
};

}  // namespace everywatt::hostwatch
