// SPDX-License-Identifier: Apache-2.0
#include "app/words.h"

#include <string_view>
#include <utility>

namespace everywatt::app {

std::string status_word(view::DeviceStatus status, Language language) {
  if (language != Language::kZh) return std::string(view::status_name(status));
  switch (status) {
    case view::DeviceStatus::kUnused:
      return "未使用";
    case view::DeviceStatus::kGone:
      return "已移除";
    case view::DeviceStatus::kSuspended:
      return "已挂起";
    case view::DeviceStatus::kOk:
    case view::DeviceStatus::kLost:
    case view::DeviceStatus::kTimedOut:
    case view::DeviceStatus::kDrained:
    case view::DeviceStatus::kFailed:
      break;
  }
  // The glossary has words for what a reading of such a device is.
  return std::string(catalog::state_word(view::status_state(status), language));
}

std::string type_word(const view::Process& process, Language language) {
  std::string type = process.type();
  if (language != Language::kZh) return type;
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"compute", "计算"}, {"graphics", "图形"}, {"mps", "MPS"}};
  for (const auto& [english, chinese] : kWords) {
    const std::size_t at = type.find(english);
    if (at != type.npos) type.replace(at, english.size(), chinese);
  }
  return type;
}

}  // namespace everywatt::app
