// SPDX-License-Identifier: Apache-2.0
#include "device/sim/patched_library.h"

#include "base/file.h"
#include "base/text.h"

namespace everywatt::sim {
namespace {

constexpr std::size_t kMaxLibrary = 64u << 20;

}  // namespace

base::Status copy_without(const std::string& library, const std::string& functions,
                          const std::string& output) {
  base::Result<std::string> bytes = base::read_file(library, kMaxLibrary);
  if (!bytes) return std::unexpected(bytes.error());
  for (const std::string_view name : base::split(functions, ',')) {
    // As it stands in a table of names: between two zero bytes.
    const std::string entry = '\0' + std::string(base::trim(name)) + '\0';
    std::size_t at = bytes->find(entry);
    if (entry.size() == 2 || at == std::string::npos) {
      return base::fail(base::Code::kNotFound,
                        library + ": no function '" + std::string(name) + "'");
    }
    for (; at != std::string::npos; at = bytes->find(entry, at + 1))
      (*bytes)[at + 1] = '-';
  }
  return base::write_file_atomically(output, *bytes, 0755);
}

}  // namespace everywatt::sim
