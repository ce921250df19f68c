// SPDX-License-Identifier: Apache-2.0
#include "app/recorder_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "app/rights.h"
#include "app/run_folder.h"
#include "catalog/catalog.h"
#include "record/recorder/copy.h"
#include "record/recorder/reader.h"

namespace everywatt::app {
namespace {

constexpr unsigned kRecorderMode = 0644;
constexpr unsigned kIdentitiesMode = 0640;

// A library that was named may show GPUs where sysfs shows none.
constexpr unsigned kSlotsWithoutSysfs = 64;

bool has_same_shape(const recorder::Reader& left, const recorder::Reader& right) {
  if (left.device_count() != right.device_count() || left.ring_count() != right.ring_count()) {
    return false;
  }
  for (std::uint32_t slot = 0; slot < left.device_count(); ++slot) {
    const recorder::Device mine = left.device(slot);
    const recorder::Device other = right.device(slot);
    if (mine.scope != other.scope || mine.parent != other.parent) return false;
  }
  for (std::uint32_t ring = 0; ring < left.ring_count(); ++ring) {
    const recorder::Ring& mine = left.ring(ring);
    const recorder::Ring& other = right.ring(ring);
    if (mine.device != other.device || mine.lane != other.lane || mine.capacity != other.capacity) {
      return false;
    }
  }
  return true;
}

// Slots that a recorder grows by.
constexpr std::size_t kAddedGpus = 8;

std::size_t count_gpus(const recorder::LayoutOptions& layout) {
  return static_cast<std::size_t>(
      std::ranges::count_if(layout.devices, [](const recorder::DevicePlan& device) {
        return device.scope == catalog::Scope::kGpu && device.parent == recorder::kNoParent;
      }));
}

std::size_t count_gpus(const recorder::Reader& reader) {
  std::size_t gpus = 0;
  for (std::uint32_t slot = 0; slot < reader.device_count(); ++slot) {
    const recorder::Device device = reader.device(slot);
    if (device.scope == catalog::Scope::kGpu && device.parent == recorder::kNoParent) ++gpus;
  }
  return gpus;
}

// The same with more GPUs, behind everything else.
recorder::LayoutOptions grow(recorder::LayoutOptions layout) {
  const auto migs = std::ranges::count_if(layout.devices, [&](const recorder::DevicePlan& device) {
    return device.scope == catalog::Scope::kGpu && device.parent != recorder::kNoParent;
  });
  const auto gpus = static_cast<std::ptrdiff_t>(std::max<std::size_t>(count_gpus(layout), 1));
  for (std::size_t i = 0; i < kAddedGpus; ++i) {
    const auto parent = static_cast<std::uint32_t>(layout.devices.size());
    layout.devices.push_back({.scope = catalog::Scope::kGpu, .parent = recorder::kNoParent});
    for (std::ptrdiff_t mig = 0; mig < migs / gpus; ++mig) {
      layout.devices.push_back({.scope = catalog::Scope::kGpu, .parent = parent});
    }
  }
  return layout;
}

// The layout as it became in `path`, where a recorder of it may have grown.
recorder::LayoutOptions grow_like(const std::string& path, recorder::LayoutOptions layout) {
  const auto old = recorder::Reader::open(path);
  if (!old) return layout;
  const std::size_t gpus = count_gpus(**old);
  const std::size_t wanted = count_gpus(layout);
  if (gpus <= wanted || (gpus - wanted) % kAddedGpus != 0) return layout;
  recorder::LayoutOptions grown = layout;
  while (count_gpus(grown) < gpus)
    grown = grow(std::move(grown));
  return grown;
}

base::Result<std::unique_ptr<recorder::Reader>> open_copy(int fd, const std::string& name) {
  base::UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) return base::fail_errno("copy the descriptor of", name);
  return recorder::Reader::adopt(std::move(copy), name);
}

// The file at `path` to write on, or null when it must be replaced.
std::unique_ptr<recorder::File> try_continue(const std::string& path,
                                             const recorder::LayoutOptions& layout) {
  const auto old = recorder::Reader::open(path);
  if (!old || !(*old)->is_of_this_boot() || (*old)->source() != layout.source) return nullptr;
  const auto wanted = recorder::File::create_anonymous(layout);
  if (!wanted) return nullptr;
  const auto wanted_reader = open_copy((*wanted)->fd(), path);
  if (!wanted_reader || !has_same_shape(**old, **wanted_reader)) return nullptr;
  base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat about{};
  if (!fd.is_open() || ::fstat(fd.get(), &about) != 0 || about.st_uid != ::geteuid()) {
    return nullptr;
  }
  auto file = recorder::File::adopt(std::move(fd));
  return file ? *std::move(file) : nullptr;
}

// A demo's file has no slot for an InfiniBand port, every other has: see recorder_layout().
bool is_of_demo(const recorder::Reader& reader) {
  for (std::uint32_t slot = 0; slot < reader.device_count(); ++slot) {
    if (reader.device(slot).scope == catalog::Scope::kInfiniband) return false;
  }
  return true;
}

// Up to when the host process of this boot told the kernel's faults, by the file that is replaced:
// they are not told once more. 0: none did; a demo's looks at another kernel log.
std::uint64_t last_host_heartbeat(const std::string& path, GpuSource source) {
  const auto old = recorder::Reader::open(path);
  if (!old || !(*old)->is_of_this_boot() || (*old)->source() != recorder::Source::kLive) return 0;
  if (is_of_demo(**old) != (source == GpuSource::kDemo)) return 0;
  return (*old)->part(recorder::Part::kHost).heartbeat_ns.load();
}

base::Result<std::unique_ptr<recorder::File>> open_or_create(const std::string& path, unsigned mode,
                                                             const recorder::LayoutOptions& layout,
                                                             GpuSource source, bool& is_continued) {
  if (source != GpuSource::kDemo) {
    if (auto file = try_continue(path, layout)) {
      file->header().closed_ns.store(0);
      is_continued = true;
      return file;
    }
  }
  is_continued = false;
  const std::uint64_t heartbeat_ns = last_host_heartbeat(path, source);
  auto file = recorder::File::create(path, mode, layout);
  if (file) (*file)->part(recorder::Part::kHost).heartbeat_ns.store(heartbeat_ns);
  return file;
}

}  // namespace

recorder::LayoutOptions recorder_layout(GpuSource source, unsigned gpus) {
  recorder::MachineShape shape{.gpus = gpus};
  if (source == GpuSource::kNamedLibrary) shape.spare_gpus = gpus == 0 ? kSlotsWithoutSysfs : 3;
  if (source == GpuSource::kDemo) {
    shape.spare_gpus = 0;
    // Its fake machine has none, and this tells its file from a machine's.
    shape.infiniband_ports = 0;
  }
  return recorder::live_layout(shape);
}

std::uint64_t needed_bytes(const recorder::LayoutOptions& layout, unsigned gpus) {
  std::uint64_t bytes = 0;
  unsigned gpus_left = gpus;
  for (const recorder::DevicePlan& device : layout.devices) {
    if (device.scope == catalog::Scope::kGpu) {
      if (device.parent != recorder::kNoParent || gpus_left == 0) continue;
      --gpus_left;
    }
    for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
      const auto scope = static_cast<unsigned>(device.scope);
      const auto cells = catalog::schema(device.scope, static_cast<catalog::Lane>(lane)).cells;
      bytes += recorder::ring_bytes(recorder::row_words(cells), layout.capacity[scope][lane]);
    }
  }
  return bytes;
}

base::Result<RecorderFiles> open_recorder_files(const std::string& folder,
                                                const recorder::LayoutOptions& layout,
                                                GpuSource source) {
  RecorderFiles files;
  bool identities_continued = false;
  const std::string identities_path = fmt::format("{}/{}", folder, kIdentitiesName);
  auto identities = open_or_create(identities_path, kIdentitiesMode, recorder::identities_layout(),
                                   source, identities_continued);
  if (!identities) return std::unexpected(identities.error());
  // The server reads them as a user of its own.
  if (::geteuid() == 0 && ::fchown((*identities)->fd(), 0, find_server_user().gid) != 0) {
    return base::fail_errno("give to the server's group", identities_path);
  }
  const std::string path = fmt::format("{}/{}", folder, kRecorderName);
  files.layout = source == GpuSource::kDemo ? layout : grow_like(path, layout);
  auto recorder = open_or_create(path, kRecorderMode, files.layout, source, files.is_continued);
  if (recorder && !files.is_continued && count_gpus(files.layout) != count_gpus(layout)) {
    files.layout = layout;
    recorder = open_or_create(path, kRecorderMode, layout, source, files.is_continued);
  }
  if (!recorder) return std::unexpected(recorder.error());
  files.recorder = *std::move(recorder);
  files.identities = *std::move(identities);
  return files;
}

base::Status grow_recorder(const std::string& folder, RecorderFiles& files) {
  const std::string path = fmt::format("{}/{}", folder, kRecorderName);
  const recorder::LayoutOptions layout = grow(files.layout);
  auto larger = recorder::File::prepare(path, kRecorderMode, layout);
  if (!larger) return std::unexpected(std::move(larger.error()));
  const auto old = open_copy(files.recorder->fd(), path);
  if (!old) return std::unexpected(old.error());
  if (auto copied = recorder::copy(**old, **larger); !copied) {
    return std::unexpected(std::move(copied.error()));
  }
  // Its writers were used up by the copying: the ones that go on are another object's.
  base::UniqueFd fd(::fcntl((*larger)->fd(), F_DUPFD_CLOEXEC, 0));
  if (!fd.is_open()) return base::fail_errno("copy the descriptor of", path);
  auto adopted = recorder::File::adopt(std::move(fd));
  if (!adopted) return std::unexpected(std::move(adopted.error()));
  if (auto named = (*larger)->commit(); !named) return named;
  files.recorder = *std::move(adopted);
  files.layout = layout;
  return {};
}

}  // namespace everywatt::app
