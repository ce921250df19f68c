// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "read/view/device.h"
#include "read/view/view.h"

namespace everywatt::view {

enum class Language : std::uint8_t { kEnglish, kChinese };

// Why a metric has no value on a device, in one or two sentences, from its state and what else is
// known: when it was last read, what the device and the parts do, how often it was rejected. When
// it has a value: says so, with its age.
struct Reason {
  Latest latest;
  std::string text;
};
Reason why(const View& view, const Device& device, catalog::MetricId id, Language language,
           unsigned instance = 0);

// The word for a state that people see: "not supported", "不支持".
std::string_view state_text(catalog::State state, Language language);
std::string_view status_text(DeviceStatus status, Language language);

}  // namespace everywatt::view
