// SPDX-License-Identifier: Apache-2.0
#include "device/host/root.h"

#include "device/host/open_file.h"

namespace everywatt::host {

Root::Root(std::string_view prefix) : prefix_(prefix) {
  while (!prefix_.empty() && prefix_.back() == '/')
    prefix_.pop_back();
}

std::string Root::path(std::string_view absolute) const {
  std::string whole = prefix_;
  whole.append(absolute);
  return whole;
}

base::Result<std::string> Root::read(std::string_view absolute, std::size_t limit_bytes) const {
  OpenFile file(*this, std::string(absolute), limit_bytes, OpenFile::Lines::kAny);
  auto text = file.read();
  if (!text) return std::unexpected(text.error());
  return std::string(*text);
}

}  // namespace everywatt::host
