// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include "app/part.h"
#include "base/text.h"

namespace everywatt::app {

std::vector<std::string> format_part_words(std::string_view part, const PartWords& words) {
  std::vector<std::string> out = {"everywatt", std::string(kPartCommand), std::string(part),
                                  fmt::format("parent={}", words.parent)};
  if (!words.pci_addresses.empty()) {
    out.push_back(fmt::format("pci={}", fmt::join(words.pci_addresses, ",")));
  }
  if (!words.fenced.empty()) out.push_back(fmt::format("fenced={}", fmt::join(words.fenced, ",")));
  if (!words.has_events) out.emplace_back("events=off");
  if (words.has_fixed_slots) out.emplace_back("slots=fixed");
  if (!words.note.empty()) out.push_back("note=" + words.note);
  if (words.has_marks) out.emplace_back("marks");
  if (words.has_courier) out.emplace_back("courier");
  return out;
}

base::Result<PartWords> parse_part_words(const std::vector<std::string>& words) {
  PartWords parsed;
  for (const std::string_view word : words) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const std::string_view value = equals == word.npos ? "" : word.substr(equals + 1);
    if (name == "parent") {
      parsed.parent = static_cast<pid_t>(base::parse_u64(value).value_or(0));
    } else if (name == "pci") {
      for (const std::string_view address : base::split(value, ',')) {
        parsed.pci_addresses.emplace_back(address);
      }
    } else if (name == "fenced") {
      for (const std::string_view place : base::split(value, ',')) {
        parsed.fenced.push_back(static_cast<std::uint32_t>(base::parse_u64(place).value_or(0)));
      }
    } else if (name == "events") {
      parsed.has_events = value != "off";
    } else if (name == "slots") {
      parsed.has_fixed_slots = value == "fixed";
    } else if (name == "note") {
      parsed.note = value;
    } else if (name == "marks") {
      parsed.has_marks = true;
    } else if (name == "courier") {
      parsed.has_courier = true;
    } else {
      return base::fail(base::Code::kInvalidArgument, fmt::format("part: unknown word '{}'", word),
                        "parts are started by everywatt serve alone");
    }
  }
  return parsed;
}

base::Result<base::UniqueFd> make_settings_fd(const Config& config) {
  base::UniqueFd fd(::memfd_create("everywatt-settings", MFD_CLOEXEC));
  if (!fd.is_open()) return base::fail_errno("create", "a file in memory");
  const std::string& text = config.settings;
  if (::pwrite(fd.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    return base::fail_errno("write", "the settings");
  }
  return fd;
}

}  // namespace everywatt::app
