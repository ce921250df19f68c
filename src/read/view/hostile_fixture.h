// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fuzz_target.h"
#include "catalog/row.h"
#include "read/view/view.h"
#include "record/recorder/layout.h"
#include "record/recorder/reseal.h"
#include "record/recorder/small_file.h"
#include "record/recorder/writer.h"

// For fuzzers of all that reads recorder files: files that somebody has changed.
namespace everywatt::view {

using Image = std::vector<std::byte>;

inline constexpr std::int64_t kRowNs = 100'000'000'000;  // of the first rows
inline constexpr std::int64_t kNowNs = kRowNs + 250'000'000;

// A machine with a GPU, a MIG instance, a disk, an interface and the parts, in rings of four rows.
inline recorder::LayoutOptions whole_layout() {
  using catalog::Scope;
  recorder::LayoutOptions layout;
  layout.devices = {{.scope = Scope::kGpu},       {.scope = Scope::kGpu, .parent = 0},
                    {.scope = Scope::kNode},      {.scope = Scope::kDisk},
                    {.scope = Scope::kInterface}, {.scope = Scope::kInfiniband},
                    {.scope = Scope::kPart},      {.scope = Scope::kPart}};
  for (std::uint32_t device = 0; device < layout.devices.size(); ++device) {
    for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
      layout.rings.push_back(
          {.device = device, .lane = static_cast<catalog::Lane>(lane), .capacity = 4});
    }
  }
  layout.origin = recorder::Origin{
      .boot_id = {1, 2, 3}, .created_ns = kRowNs / 2, .created_wall_ns = 1'800'000'000'000'000'000};
  return layout;
}

// Every reading is there.
inline void fill_row(catalog::Row& row) {
  using catalog::MetricId;
  using catalog::Reading;
  for (const MetricId id : catalog::schema(row.scope(), row.lane()).metrics) {
    const catalog::Metric& metric = catalog::metric(id);
    if (metric.type == catalog::Type::kText) {
      row.set_text(id, "text");
      continue;
    }
    for (unsigned i = 0; i < metric.instances; ++i) {
      switch (metric.type) {
        case catalog::Type::kF64:
          row.set_reading(id, Reading::of(0.5), i);
          break;
        case catalog::Type::kU64:
          row.set_reading(id, Reading::of(std::uint64_t{id == MetricId::process_index ? 0U : 1U}),
                          i);
          break;
        case catalog::Type::kI64:
        case catalog::Type::kText:
          row.set_reading(id, Reading::of(std::int64_t{1}), i);
      }
    }
  }
}

inline Image make_whole_image() {
  const recorder::LayoutOptions layout = whole_layout();
  const auto file = recorder::File::create_anonymous(layout);
  CHECK(file.has_value());
  for (std::uint32_t slot = 0; slot < layout.devices.size(); ++slot) {
    (*file)->set_status(slot, recorder::DeviceStatus::kOk, kRowNs / 2);
    for (unsigned lane = 0; lane < catalog::kLaneCount; ++lane) {
      auto writer = (*file)->writer(slot, static_cast<catalog::Lane>(lane));
      if (!writer) continue;
      catalog::Row row(layout.devices[slot].scope, static_cast<catalog::Lane>(lane));
      for (std::int64_t n = 0; n < 3; ++n) {
        row.time_ns = kRowNs + n * 100'000'000;
        fill_row(row);
        writer->append(row);
      }
    }
  }
  return recorder::image_of(**file);
}

struct WholeFile {
  Image image = make_whole_image();
  std::vector<std::size_t> places = places_of(image);  // of the words that are not zero

  static std::vector<std::size_t> places_of(const Image& image) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i + 8 <= image.size(); i += 8) {
      if (recorder::peek<std::uint64_t>(image, i) != 0) places.push_back(i);
    }
    return places;
  }
};

// The bytes as a file, if they begin like one. Else the whole file with changes: of each 12 bytes
// where (mostly among the words that mean something), how wide, and the new number.
inline Image hostile_image(std::string_view bytes) {
  static const WholeFile whole;
  if (bytes.size() > 8 && std::memcmp(bytes.data(), &recorder::kMagic, 8) == 0) {
    const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
    return Image(first, first + bytes.size());
  }
  Image image = whole.image;
  base::FuzzInput input(bytes);
  while (!input.is_empty()) {
    const unsigned place = input.number<std::uint16_t>();
    const unsigned flags = input.byte();
    const unsigned shift = input.byte() % 8;
    const auto number = input.number<std::uint64_t>();
    const std::size_t offset = (flags & 4) != 0
                                   ? (std::size_t{place} * 8) % (image.size() - 16) + shift
                                   : whole.places[place % whole.places.size()] + shift;
    if (offset + 8 > image.size()) continue;
    std::memcpy(&image[offset], &number, std::size_t{1} << (flags & 3));
  }
  return image;
}

// The views that a hostile file gives, with check words that are right: at its own last row, and at
// a moment between its rows. A file whose check words are wrong is refused at once.
template <typename Use>
void use_hostile_views(std::string_view bytes, Use&& use) {
  Image image = hostile_image(bytes);
  static_cast<void>(recorder::open_image(image));
  recorder::reseal(image);
  for (const base::Clock& clock : {base::Clock{}, base::Clock([] { return kNowNs; })}) {
    auto reader = recorder::open_image(image);
    if (reader) use(*View::adopt(std::move(*reader), nullptr, clock));
  }
}

}  // namespace everywatt::view
