// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device/host/kernel_fault.h"
#include "device/host/kernel_log.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  (void)everywatt::host::parse_kernel_fault(text);
  if (const auto record = everywatt::host::parse_kernel_record(text)) {
    (void)everywatt::host::parse_kernel_fault(record->text);
  }
  return 0;
}
