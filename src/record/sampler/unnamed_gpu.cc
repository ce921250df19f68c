// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/unnamed_gpu.h"

#include <fmt/format.h>

#include <cctype>

namespace everywatt::sampler {
namespace {

// As the driver writes it: eight digits of domain, capital letters.
std::string driver_address(const std::string& sysfs_address) {
  constexpr std::size_t kDomainDigits = 8;
  std::string address = sysfs_address;
  for (char& c : address)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::size_t digits = address.find(':');
  if (digits < kDomainDigits) address.insert(0, kDomainDigits - digits, '0');
  return address;
}

}  // namespace

void describe_unnamed_gpu(recorder::File& file, std::uint32_t slot, unsigned number,
                          const std::string& pci_address, std::int64_t now_ns) {
  base::Result<recorder::Writer> once = file.writer(slot, catalog::Lane::kOnce);
  if (!once || once->published() > 0) return;
  file.device(slot).index.store(number, std::memory_order_release);
  if (pci_address.empty()) return;
  catalog::Row row(catalog::Scope::kGpu, catalog::Lane::kOnce);
  row.time_ns = now_ns;
  row.set_text(catalog::MetricId::gpu_pci_address, driver_address(pci_address));
  once->append(row);
}

}  // namespace everywatt::sampler
