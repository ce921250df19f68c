// SPDX-License-Identifier: Apache-2.0
#include "device/sim/kernel_lines.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/unique_fd.h"
#include "device/nvml/abi.h"
#include "device/sim/nvlinks.h"
#include "device/sim/profile.h"

namespace everywatt::sim {
namespace {

constexpr std::uint64_t kFellOffTheBus = 79;

// What the driver says behind a number, shortened to what tells something.
struct XidText {
  std::uint64_t number;
  const char* text;
};
constexpr XidText kXidTexts[] = {
    {13, "Graphics Exception: ESR 0x404490=0x80000001"},
    {31,
     "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC1 GPCCLIENT_T1_0 faulted @ "
     "0x7fd2_8a000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_WRITE"},
    {43, "Ch 00000008"},
    {45, "Ch 00000008"},
    {48, "An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer"},
    {63, "Row Remapper: New row marked for remapping, reset gpu to activate."},
    {64, "Row Remapper: Failed to log a new row"},
    {74, "NVLink: fatal error detected on link 0(0x10000, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)"},
    {kFellOffTheBus, "GPU has fallen off the bus."},
    {94, "Contained: SM (0x1). RST: No, D-RST: No"},
    {95, "Uncontained: FBHUB (0x0). RST: Yes, D-RST: No"},
    {119, "Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76"},
};

class Lines {
 public:
  explicit Lines(const Scenario& scenario) : scenario_(scenario), lines_(scenario.kernel_lines) {}

  std::vector<KernelLineEntry> all() {
    for (const EventEntry& event : scenario_.events)
      add_event(event);
    for (std::uint32_t gpu = 0; gpu < scenario_.devices.size(); ++gpu) {
      add_slot(gpu);
      for (std::uint32_t link = 0; link < count_links(scenario_, gpu); ++link)
        add_link(gpu, link);
    }
    for (const ProcessEntry& process : scenario_.processes) {
      if (process.out_of_memory && process.span.until_ns != kForever) add_killed(process);
    }
    std::stable_sort(lines_.begin(), lines_.end(),
                     [](const KernelLineEntry& left, const KernelLineEntry& right) {
                       return left.at_ns < right.at_ns;
                     });
    return std::move(lines_);
  }

 private:
  static constexpr std::uint32_t kError = 3;
  static constexpr std::uint32_t kNote = 6;

  static std::string address(std::uint32_t gpu) { return fmt::format("0000:{:02x}:00", gpu + 1); }

  void add(std::int64_t at_ns, std::uint32_t priority, std::string text) {
    lines_.push_back({.at_ns = at_ns, .priority = priority, .text = std::move(text)});
  }

  void add_event(const EventEntry& event) {
    if (event.type != nvml::abi::event::kXidCritical) return;
    for (std::uint32_t gpu = 0; gpu < scenario_.devices.size(); ++gpu) {
      if (event.gpu && *event.gpu != gpu) continue;
      std::string detail = event.detail;
      for (const XidText& known : kXidTexts) {
        if (detail.empty() && known.number == event.number) detail = known.text;
      }
      const std::string process =
          event.pid == 0 ? "pid='<unknown>', name=<unknown>"
                         : fmt::format("pid={}, name={}", event.pid,
                                       event.process.empty() ? "python3" : event.process);
      add(event.at_ns, kError,
          fmt::format("NVRM: Xid (PCI:{}): {}, {}{}{}", address(gpu), event.number, process,
                      detail.empty() ? "" : ", ", detail));
      if (event.number != kFellOffTheBus) continue;
      add(event.at_ns, kError,
          fmt::format("NVRM: GPU {}.0: GPU has fallen off the bus.", address(gpu)));
    }
  }

  void add_slot(std::uint32_t gpu) {
    const DeviceEntry& device = scenario_.devices[gpu];
    if (device.present.from_ns > 0) {
      const unsigned id = profile_by_key(device.profile)->pci_device_id;
      add(device.present.from_ns, kNote,
          fmt::format("pcieport 0000:00:{:02x}.0: pciehp: Slot({}): Card present", gpu + 1, gpu));
      add(device.present.from_ns, kNote,
          fmt::format("pci {}.0: [{:04x}:{:04x}] type 00 class 0x030200", address(gpu), id & 0xffff,
                      id >> 16));
    }
    if (device.present.until_ns != kForever) {
      add(device.present.until_ns, kNote,
          fmt::format("pcieport 0000:00:{:02x}.0: pciehp: Slot({}): Card not present", gpu + 1,
                      gpu));
    }
  }

  void add_link(std::uint32_t gpu, std::uint32_t link) {
    std::vector<std::int64_t> moments;
    for (const LinkEntry& entry : scenario_.links) {
      for (const std::int64_t at_ns : {entry.span.from_ns, entry.span.until_ns}) {
        if (at_ns > 0 && at_ns != kForever) moments.push_back(at_ns);
      }
    }
    std::sort(moments.begin(), moments.end());
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    LinkNow before = link_at(scenario_, gpu, link, 0);
    for (const std::int64_t at_ns : moments) {
      const LinkNow now = link_at(scenario_, gpu, link, at_ns);
      const std::string name = fmt::format("NVRM: nvlink: GPU {}.0: link {}", address(gpu), link);
      if (now.state != before.state && now.state == LinkState::kDown) {
        add(at_ns, kError, name + ": link down");
      } else if (now.state != before.state && now.state == LinkState::kUp) {
        add(at_ns, kNote, name + ": link up");
      } else if (now.errors_per_second > 0 && before.errors_per_second == 0) {
        add(at_ns, kError, name + ": checksum errors");
      }
      before = now;
    }
  }

  void add_killed(const ProcessEntry& process) {
    const std::string program = process.command.substr(0, process.command.find(' '));
    const std::string name = program.substr(program.rfind('/') + 1).substr(0, 15);
    add(process.span.until_ns, kError,
        fmt::format("Out of memory: Killed process {} ({}) total-vm:83886080kB, "
                    "anon-rss:67108864kB, file-rss:0kB, shmem-rss:0kB, UID:{} pgtables:140000kB "
                    "oom_score_adj:0",
                    process.pid, name, process.uid));
  }

  const Scenario& scenario_;
  std::vector<KernelLineEntry> lines_;
};

// As the kernel writes what is not printable.
std::string escaped(const std::string& text) {
  std::string line;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    line += byte < 0x20 || byte >= 0x7f || c == '\\' ? fmt::format("\\x{:02x}", byte)
                                                     : std::string(1, c);
  }
  return line;
}

}  // namespace

std::vector<KernelLineEntry> kernel_lines(const Scenario& scenario) {
  return Lines(scenario).all();
}

base::Result<KernelLogFile> KernelLogFile::open(const std::string& path, const Scenario& scenario) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error) return base::fail_errno("create", path, error.value());
  const base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open()) return base::fail_errno("open", path);
  const auto text = base::read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto written = static_cast<std::size_t>(std::count(text->begin(), text->end(), '\n'));
  return KernelLogFile(path, kernel_lines(scenario), written);
}

base::Status KernelLogFile::write(std::int64_t played_ns, const BootTimes& boot) {
  std::string text;
  for (; written_ < lines_.size() && lines_[written_].at_ns <= played_ns; ++written_) {
    const KernelLineEntry& line = lines_[written_];
    const std::int64_t stamp_us = std::max<std::int64_t>(0, (boot.uptime_ns + line.at_ns) / 1000);
    text += fmt::format("{},{},{},-;{}\n", line.priority, written_, stamp_us, escaped(line.text));
  }
  if (text.empty()) return {};
  const base::UniqueFd file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644));
  if (!file.is_open() ||
      ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return base::fail_errno("write", path_);
  }
  return {};
}

}  // namespace everywatt::sim
