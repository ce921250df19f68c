// SPDX-License-Identifier: Apache-2.0
//
// A queue whose files say anything: what can be read of them is sent, each sample is accounted for,
// and it goes on.
#include "base/fuzz_target.h"

#include <filesystem>

#include "serve/remote_write/queue_fixture.h"

namespace everywatt::remote_write {

// Two files of samples and the one of what is settled, with a line "--" between them.
FUZZ_TARGET(queue) {
  base::FuzzInput input(bytes);
  static const TestFolder folder;
  const std::string path = folder.path() + "/q";
  std::filesystem::remove_all(path);
  std::filesystem::create_directory(path);
  write_bytes(path + "/settled", std::string(input.part()));
  write_bytes(path + "/00000000000000000000.samples", std::string(input.part()));
  write_bytes(path + "/00000000000000000006.samples", std::string(input.part()));

  auto queue = Queue::open({.folder = path, .limit_bytes = 1u << 20, .this_boot = kBoot});
  CHECK(queue);
  const std::uint64_t known = (*queue)->queued_samples() + (*queue)->damaged_samples();
  std::uint64_t sent = 0;
  std::uint64_t last_end = 0;
  while (true) {
    const auto item = (*queue)->next();
    CHECK(item);
    if (!*item) break;
    CHECK((*item)->from >= last_end);
    CHECK((*item)->from < (*item)->record.end());
    last_end = (*item)->record.end();
    sent += last_end - (*item)->from;
    (*queue)->settle(**item, (*item)->from, last_end);
  }
  CHECK((*queue)->queued_samples() == 0);
  CHECK(sent + (*queue)->damaged_samples() == known);
  CHECK(append_one(**queue, 1));
  CHECK(settle_all(**queue).size() == 1);
}

}  // namespace everywatt::remote_write
