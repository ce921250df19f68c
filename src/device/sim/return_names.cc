// SPDX-License-Identifier: Apache-2.0
#include "device/sim/return_names.h"

#include <charconv>

#include "base/text.h"

namespace everywatt::sim {
namespace {

struct Named {
  unsigned code;
  std::string_view name;
  const char* description;
};

constexpr Named kReturns[] = {
    {0, "SUCCESS", "Success"},
    {1, "UNINITIALIZED", "Uninitialized"},
    {2, "INVALID_ARGUMENT", "Invalid Argument"},
    {3, "NOT_SUPPORTED", "Not Supported"},
    {4, "NO_PERMISSION", "Insufficient Permissions"},
    {5, "ALREADY_INITIALIZED", "Already Initialized"},
    {6, "NOT_FOUND", "Not Found"},
    {7, "INSUFFICIENT_SIZE", "Insufficient Size"},
    {8, "INSUFFICIENT_POWER", "Insufficient External Power"},
    {9, "DRIVER_NOT_LOADED", "Driver Not Loaded"},
    {10, "TIMEOUT", "Timeout"},
    {11, "IRQ_ISSUE", "Interrupt Request Issue"},
    {12, "LIBRARY_NOT_FOUND", "NVML Shared Library Not Found"},
    {13, "FUNCTION_NOT_FOUND", "Function Not Found"},
    {14, "CORRUPTED_INFOROM", "Corrupted infoROM"},
    {15, "GPU_IS_LOST", "GPU is lost"},
    {16, "RESET_REQUIRED", "GPU requires reset"},
    {17, "OPERATING_SYSTEM", "GPU access blocked by the operating system"},
    {18, "LIB_RM_VERSION_MISMATCH", "Driver/library version mismatch"},
    {19, "IN_USE", "In use by another client"},
    {20, "MEMORY", "Insufficient Memory"},
    {21, "NO_DATA", "No data"},
    {22, "VGPU_ECC_NOT_SUPPORTED", "ECC on vGPU is not supported"},
    {23, "INSUFFICIENT_RESOURCES", "Insufficient resources"},
    {24, "FREQ_NOT_SUPPORTED", "Requested frequency is not supported"},
    {25, "ARGUMENT_VERSION_MISMATCH", "Argument version mismatch"},
    {26, "DEPRECATED", "Deprecated"},
    {27, "NOT_READY", "System is not ready"},
    {28, "GPU_NOT_FOUND", "No GPUs found"},
    {29, "INVALID_STATE", "Resource is not in the correct state"},
    {999, "UNKNOWN", "Unknown Error"},
};

}  // namespace

std::optional<unsigned> parse_return(std::string_view text) {
  for (const Named& known : kReturns) {
    if (known.name == text) return known.code;
  }
  const std::optional<std::uint64_t> number = base::parse_u64(text);
  if (!number || *number > 0xffffffffu) return std::nullopt;
  return static_cast<unsigned>(*number);
}

const char* describe_return(unsigned code) {
  for (const Named& known : kReturns) {
    if (known.code == code) return known.description;
  }
  return "Unknown Error";
}

std::optional<std::uint64_t> parse_hex(std::string_view digits) {
  std::uint64_t value = 0;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, value, 16);
  if (digits.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

}  // namespace everywatt::sim
