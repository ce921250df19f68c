// SPDX-License-Identifier: Apache-2.0
#include "record/hostwatch/named_devices.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace everywatt::hostwatch {

NamedDevices::NamedDevices(recorder::File& file, const recorder::Reader& reader,
                           catalog::Scope scope, catalog::MetricId name)
    : file_(file), scope_(scope), name_(name), row_(scope, catalog::Lane::kHost) {
  catalog::Row once(scope, catalog::Lane::kOnce);
  for (const std::uint32_t slot : file.slots(scope)) {
    // An earlier process of ours may have named it.
    const auto ring = reader.find_ring(slot, catalog::Lane::kOnce);
    const std::uint64_t published = ring ? reader.published(*ring) : 0;
    const bool has_name =
        published > 0 && reader.read(*ring, published - 1, once) == recorder::RowState::kOk;
    auto rows = has_name ? file.writer(slot, catalog::Lane::kHost)
                         : base::Result<recorder::Writer>(base::fail(base::Code::kNotFound, ""));
    if (rows) {
      known_.push_back({.name = std::string(once.text(name)), .slot = slot, .rows = *rows});
    } else {
      free_slots_.push_back(slot);
    }
  }
  std::ranges::reverse(free_slots_);  // the lowest is taken first, from the back
}

void NamedDevices::begin_tick(std::int64_t now_ns) {
  now_ns_ = now_ns;
  for (Known& known : known_)
    known.is_seen = false;
}

void NamedDevices::end_tick() {
  for (const Known& known : known_) {
    if (!known.is_seen) file_.set_status(known.slot, recorder::DeviceStatus::kGone, now_ns_);
  }
}

catalog::Row* NamedDevices::start(std::string_view device, Complaints& complaints) {
  current_ = find(device, complaints);
  if (current_ == nullptr) return nullptr;
  row_.clear();
  row_.time_ns = now_ns_;
  return &row_;
}

void NamedDevices::append() {
  CHECK(current_ != nullptr);
  current_->is_seen = true;
  file_.set_status(current_->slot, recorder::DeviceStatus::kOk, now_ns_);
  current_->rows.append(row_);
}

NamedDevices::Known* NamedDevices::find(std::string_view device, Complaints& complaints) {
  for (Known& known : known_) {
    if (known.name == device) return &known;
  }
  // What an earlier process of ours wrote is cleaned and cut: a name that is not plain comes back
  // as another one.
  catalog::Row once(scope_, catalog::Lane::kOnce);
  once.set_text(name_, device);
  for (Known& known : known_) {
    if (known.is_seen || known.name != once.text(name_)) continue;
    known.name = device;
    return &known;
  }
  return take_slot(device, complaints);
}

NamedDevices::Known* NamedDevices::take_slot(std::string_view device, Complaints& complaints) {
  if (free_slots_.empty()) {
    // One subject for all of the scope, so that a machine with many more is told about once.
    complaints.failed(fmt::format("{} devices", catalog::scope_name(scope_)),
                      {.code = base::Code::kUnavailable,
                       .message = fmt::format("no slot left for '{}' and others", device),
                       .hint = {}});
    return nullptr;
  }
  const std::uint32_t slot = free_slots_.back();
  auto rows = file_.writer(slot, catalog::Lane::kHost);
  auto once = rows ? file_.writer(slot, catalog::Lane::kOnce) : rows;
  if (!once) {
    complaints.failed(device, once.error());
    return nullptr;
  }
  free_slots_.pop_back();
  catalog::Row name(scope_, catalog::Lane::kOnce);
  name.time_ns = now_ns_;
  name.set_text(name_, device);
  once->append(name);
  file_.device(slot).index.store(known_.size(), std::memory_order_release);
  known_.push_back({.name = std::string(device), .slot = slot, .rows = *rows});
  return &known_.back();
}

}  // namespace everywatt::hostwatch
