// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "base/fuzz_target.h"
#include "base/text.h"
#include "device/host/fake_root.h"
#include "device/host/kernel_fault.h"
#include "device/host/kernel_log.h"

namespace everywatt::host {
namespace {

void judge(const KernelRecord& record) {
  CHECK(record.priority <= 7);
  CHECK(record.text.size() <= kKernelTextBytes);
  CHECK(base::is_clean(record.text));
  static_cast<void>(parse_kernel_fault(record.text));
  // What was understood is understood again from a line that says it.
  const std::string line = std::to_string(record.priority) + "," + std::to_string(record.sequence) +
                           "," + std::to_string(record.time_ns / 1000) + ",-;" + record.text;
  const auto again = parse_kernel_record(line);
  CHECK(again.has_value());
  CHECK(again->priority == record.priority && again->sequence == record.sequence);
  CHECK(again->time_ns == record.time_ns && again->text == record.text);
}

}  // namespace

// A kernel log: each line by itself, and all of them as a file.
FUZZ_TARGET(kmsg) {
  static_cast<void>(parse_kernel_fault(bytes));
  if (const auto record = parse_kernel_record(bytes)) judge(*record);

  const auto lines = static_cast<std::size_t>(std::ranges::count(bytes, '\n'));
  if (lines < 2) return;  // opening a log takes far longer than reading a line
  static const FakeRoot folder;
  folder.write("/kmsg", bytes);
  auto log = KernelLog::open(folder.folder() + "/kmsg");
  CHECK(log.has_value());
  std::vector<KernelRecord> records;
  std::size_t turns = 0;
  while (log->read(4, records) == KernelLog::More::kMaybe)
    CHECK(++turns <= lines / 4 + 1);
  CHECK(records.size() + log->malformed() <= lines);
  for (const KernelRecord& record : records)
    judge(record);
}

}  // namespace everywatt::host
