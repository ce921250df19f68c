// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/gpu_roster.h"

#include <fcntl.h>

#include <algorithm>
#include <cctype>

#include "record/recorder/reader.h"

namespace everywatt::sampler {
namespace {

using catalog::MetricId;

// As long as its rings hold rows of it.
constexpr std::int64_t kForgottenNs = 900'000'000'000;

}  // namespace

std::string sysfs_address(const std::string& driver_address) {
  constexpr std::size_t kDriverDigits = 8;
  constexpr std::size_t kSysfsDigits = 4;
  std::string address = driver_address;
  for (char& c : address)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::size_t digits = address.find(':');
  if (digits != kDriverDigits) return address;
  for (; digits > kSysfsDigits && address.front() == '0'; --digits)
    address.erase(0, 1);
  return address;
}

GpuRoster::GpuRoster(const recorder::File& file) {
  const std::vector<std::uint32_t> slots = file.slots(catalog::Scope::kGpu);
  entries_.resize(slots.size());
  const auto reader =
      recorder::Reader::adopt(base::UniqueFd(::fcntl(file.fd(), F_DUPFD_CLOEXEC, 0)), "recorder");
  if (!reader) return;
  catalog::Row row(catalog::Scope::kGpu, catalog::Lane::kOnce);
  for (std::size_t place = 0; place < slots.size(); ++place) {
    const recorder::Device device = (*reader)->device(slots[place]);
    const auto ring = (*reader)->find_ring(slots[place], catalog::Lane::kOnce);
    if (!ring || device.status == recorder::DeviceStatus::kUnused) continue;
    const std::uint64_t end = (*reader)->published(*ring);
    if (end == 0 || (*reader)->read(*ring, end - 1, row) != recorder::RowState::kOk) continue;
    if (row.time_ns < device.rows_before_ns) continue;
    entries_[place].address = sysfs_address(std::string(row.text(MetricId::gpu_pci_address)));
    entries_[place].uuid = row.text(MetricId::gpu_uuid);
    entries_[place].is_used = true;
    entries_[place].gone_ns = device.status_since_ns;
  }
}

std::optional<unsigned> GpuRoster::take(const std::string& address, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  auto found = std::ranges::find(entries_, address, &Entry::address);
  if (found == entries_.end()) found = std::ranges::find(entries_, false, &Entry::is_used);
  if (found == entries_.end()) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const Entry& entry) {
      return entry.is_present ? INT64_MAX : entry.gone_ns;
    });
    if (oldest != entries_.end() && !oldest->is_present &&
        now_ns - oldest->gone_ns > kForgottenNs) {
      found = oldest;
    }
  }
  if (found == entries_.end()) return std::nullopt;
  if (found->address != address) *found = {.address = address, .uuid = {}};
  found->is_present = found->is_used = true;
  return static_cast<unsigned>(found - entries_.begin());
}

std::optional<unsigned> GpuRoster::find_absent(const std::string& uuid) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.is_used && !entry.is_present && entry.uuid == uuid;
  });
  if (found == entries_.end()) return std::nullopt;
  return static_cast<unsigned>(found - entries_.begin());
}

void GpuRoster::move(unsigned from, unsigned to) {
  const std::lock_guard lock(mutex_);
  entries_[to].address = entries_[from].address;
  entries_[to].is_present = true;
  entries_[from] = {};
}

void GpuRoster::set_uuid(unsigned place, const std::string& uuid) {
  const std::lock_guard lock(mutex_);
  entries_[place].uuid = uuid;
}

void GpuRoster::set_presence(unsigned place, Presence presence, std::int64_t now_ns) {
  const std::lock_guard lock(mutex_);
  const bool is_present = presence == Presence::kPresent;
  if (entries_[place].is_present && !is_present) entries_[place].gone_ns = now_ns;
  entries_[place].is_present = is_present;
}

std::string GpuRoster::address(unsigned place) const {
  const std::lock_guard lock(mutex_);
  return entries_[place].address;
}

}  // namespace everywatt::sampler
