// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "catalog/event.h"
#include "device/host/fake_root.h"
#include "record/hostwatch/hostwatch.h"
#include "record/recorder/reader.h"

namespace everywatt::hostwatch {

// One machine for a test: a fake root, both recorder files in memory, clocks that stand still until
// they are moved, and a sampler that lists what it is told to.
class FakeMachine {
 public:
  explicit FakeMachine(unsigned gpus = 2) {
    recorder::MachineShape shape;
    shape.gpus = gpus;
    shape.spare_gpus = 0;
    shape.migs_per_gpu = 0;
    shape.disks = 2;
    shape.interfaces = 2;
    shape.infiniband_ports = 1;
    recorder_ = recorder::File::create_anonymous(recorder::live_layout(shape)).value();
    identities_ = recorder::File::create_anonymous(recorder::identities_layout()).value();
    recorder_->header().wall_offset_ns.store(static_cast<std::uint64_t>(wall_offset_ns));
    readers_[0] = adopt(*recorder_);
    readers_[1] = adopt(*identities_);
    for (const std::uint32_t slot : recorder_->slots(catalog::Scope::kGpu)) {
      gpus_.push_back(slot);
      listings_.push_back(recorder_->writer(slot, catalog::Lane::kProcess).value());
    }
    root.write("/proc/stat", "cpu 100 0 100 100 0 0 0 0\ncpu0 1 1 1 1\nprocesses 1\n");
    root.write("/proc/uptime", "1000.00 1.00\n");
    root.write("/proc/sys/kernel/random/boot_id", "5ee00000-b007-4a77-8000-e0e700000001\n");
    root.write("/etc/passwd", "root:x:0:0::/root:/bin/sh\nanna:x:1000:1000::/home/anna:/bin/sh\n");
  }

  Options options() {
    Options options;
    options.root = root.folder();
    options.boottime = [this] { return now_ns; };
    options.walltime = [this] { return now_ns + wall_offset_ns; };
    return options;
  }
  std::unique_ptr<Hostwatch> open(Options options) {
    return Hostwatch::open(std::move(options), *recorder_, *identities_).value();
  }
  std::unique_ptr<Hostwatch> open() { return open(options()); }

  struct Process {
    std::string name = "python";
    char state = 'S';
    int parent = 1;
    std::uint64_t user_ticks = 0;
    std::uint64_t ended_children_ticks = 0;
    std::uint64_t start_ticks = 50'000;
    std::uint64_t read_bytes = 0;
    std::string children = "";
    std::string cmdline = std::string("python\0train.py\0", 16);
    std::string cgroup = "0::/user.slice/session-1.scope\n";
    std::string environ = "";
    std::string nspid = "";
  };
  void put(std::uint32_t pid, const Process& process) {
    const std::string folder = fmt::format("/proc/{}/", pid);
    root.write(folder + "stat",
               fmt::format("{} ({}) {} {} 1 1 0 -1 0 0 0 0 0 {} 0 {} 0 20 0 3 0 {} 1 256 0\n", pid,
                           process.name, process.state, process.parent, process.user_ticks,
                           process.ended_children_ticks, process.start_ticks));
    root.write(folder + "status",
               fmt::format("Name:\tp\nUid:\t1000\t1000\t1000\t1000\n{}Threads:\t3\n"
                           "Cpus_allowed_list:\t0-3\n",
                           process.nspid.empty() ? "" : "NSpid:\t" + process.nspid + "\n"));
    root.write(folder + "io", fmt::format("read_bytes: {}\nwrite_bytes: 7\n", process.read_bytes));
    root.write(folder + "cmdline", process.cmdline);
    root.write(folder + "cgroup", process.cgroup);
    root.write(folder + "environ", process.environ);
    root.write(fmt::format("{0}task/{1}/children", folder, pid), process.children);
  }
  // Prepares a process that takes the number `pid` over with replace(), at once, as in the kernel.
  void put_later(std::uint32_t pid, const Process& process, unsigned turn) {
    put(pid, process);
    const std::string folder = fmt::format("{}/proc/{}", root.folder(), pid);
    std::filesystem::rename(folder, fmt::format("{}.{}", folder, turn));
  }
  void replace(std::uint32_t pid, unsigned turn) const {
    const std::string folder = fmt::format("{}/proc/{}", root.folder(), pid);
    std::filesystem::create_symlink(fmt::format("{}.{}", folder, turn), folder + ".next");
    std::filesystem::rename(folder + ".next", folder);
  }
  void end(std::uint32_t pid) { root.remove(fmt::format("/proc/{}", pid)); }

  // What the sampler saw on a GPU: (pid, bytes) pairs.
  void list(std::size_t gpu, const std::vector<std::pair<std::uint32_t, std::uint64_t>>& uses) {
    using catalog::MetricId;
    recorder_->set_status(gpus_[gpu], recorder::DeviceStatus::kOk, now_ns);
    catalog::Row row(catalog::Scope::kGpu, catalog::Lane::kProcess);
    for (std::size_t i = 0; i < std::max<std::size_t>(uses.size(), 1); ++i) {
      row.clear();
      row.time_ns = now_ns;
      row.set(MetricId::process_index, std::uint64_t{i});
      row.set(MetricId::process_count, std::uint64_t{uses.size()});
      if (!uses.empty()) {
        row.set(MetricId::process_pid, std::uint64_t{uses[i].first});
        row.set(MetricId::process_memory_bytes, uses[i].second);
      }
      listings_[gpu].append(row);
    }
  }
  void name_gpu(std::size_t gpu, std::string_view pci_address) {
    recorder_->set_status(gpus_[gpu], recorder::DeviceStatus::kOk, now_ns);
    catalog::Row row(catalog::Scope::kGpu, catalog::Lane::kOnce);
    row.time_ns = now_ns;
    row.set_text(catalog::MetricId::gpu_pci_address, pci_address);
    recorder_->writer(gpus_[gpu], catalog::Lane::kOnce).value().append(row);
  }

  void pass_seconds(double seconds) { now_ns += static_cast<std::int64_t>(seconds * 1e9); }

  // All rows of a ring, oldest first.
  std::vector<catalog::Row> rows(std::uint32_t slot, catalog::Scope scope, catalog::Lane lane) {
    const recorder::Reader& reader = *readers_[lane == catalog::Lane::kIdentity ? 1 : 0];
    std::vector<catalog::Row> rows;
    const auto ring = reader.find_ring(slot, lane);
    for (std::uint64_t at = 0; ring && at < reader.published(*ring); ++at) {
      catalog::Row row(scope, lane);
      EXPECT_EQ(reader.read(*ring, at, row), recorder::RowState::kOk);
      rows.push_back(row);
    }
    return rows;
  }
  std::vector<catalog::Row> node_rows(catalog::Lane lane) {
    return rows(recorder_->slots(catalog::Scope::kNode).at(0), catalog::Scope::kNode, lane);
  }
  std::vector<catalog::Row> identity_rows() {
    return rows(identities_->slots(catalog::Scope::kNode).at(0), catalog::Scope::kNode,
                catalog::Lane::kIdentity);
  }
  std::vector<catalog::Row> part_rows(recorder::Part part, catalog::Lane lane) {
    return rows(recorder_->slots(catalog::Scope::kPart).at(static_cast<std::size_t>(part)),
                catalog::Scope::kPart, lane);
  }
  std::vector<catalog::Row> events(catalog::EventKind kind) {
    auto all = part_rows(recorder::Part::kHost, catalog::Lane::kEvent);
    std::erase_if(all, [&](const catalog::Row& row) {
      return row.reading(catalog::MetricId::event_kind).u64() != static_cast<std::uint8_t>(kind);
    });
    return all;
  }
  // The last listing of lane kHostProcess.
  std::vector<catalog::Row> last_listing() {
    auto all = node_rows(catalog::Lane::kHostProcess);
    std::erase_if(all, [&](const catalog::Row& row) { return row.time_ns != now_ns; });
    return all;
  }

  recorder::File& recorder() { return *recorder_; }
  recorder::File& identities() { return *identities_; }
  const recorder::Reader& reader() { return *readers_[0]; }
  std::uint32_t gpu_slot(std::size_t gpu) const { return gpus_[gpu]; }

  host::FakeRoot root;
  std::int64_t now_ns = 1'000'000'000'000;
  std::int64_t wall_offset_ns = 1'700'000'000'000'000'000;

 private:
  static std::unique_ptr<recorder::Reader> adopt(recorder::File& file) {
    return recorder::Reader::adopt(base::UniqueFd(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0)), "test")
        .value();
  }

  std::unique_ptr<recorder::File> recorder_;
  std::unique_ptr<recorder::File> identities_;
  std::unique_ptr<recorder::Reader> readers_[2];
  std::vector<std::uint32_t> gpus_;
  std::vector<recorder::Writer> listings_;
};

}  // namespace everywatt::hostwatch
