// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "catalog/glossary.h"
#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

struct ReasonOptions {
  catalog::Lang language = catalog::Lang::kEn;
  unsigned instance = 0;
  // The name of the driver call with this number (Device::call); unset: the number is shown.
  std::function<std::string_view(std::uint64_t)> call_name = {};
};

// Why a metric has no value on a device, in a few sentences, from its state and what else is known:
// when it was last read, what the device and the parts do, how often readings were rejected. When
// it has a value: says so, with its age.
struct Reason {
  Latest latest;
  std::string text;
};
Reason why(const View& view, const Device& device, catalog::MetricId id,
           const ReasonOptions& options = {});

// What a device's status means, for people: "lost: gone from the bus".
std::string_view status_text(DeviceStatus status, catalog::Lang language);
// "40 ms", "4.2 s", "3 min", "2.5 h"; "4.2 秒" in Chinese.
std::string duration_text(std::int64_t duration_ns, catalog::Lang language);

}  // namespace everywatt::view
