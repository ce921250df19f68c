// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "device/host/root.h"

namespace everywatt::host {

// One file of /proc or /sys that is read again and again: it stays open and is read from its start
// into memory that is kept, so that a read costs one system call, two for a long file. Below a root
// that is made of ordinary files it is opened for each read, since those are replaced by others.
//
// A file of a process stays that process's: after its end it fails, also when the pid is in use
// again. Not thread-safe.
class OpenFile {
 public:
  // What is known of a file's lines. Short: none is longer than 2 KiB, which saves a call a read.
  enum class Lines { kShort, kAny };

  // Nothing is opened before the first read. Of a longer file only `limit_bytes` are read.
  OpenFile(const Root& root, std::string absolute, std::size_t limit_bytes = 1 << 20,
           Lines lines = Lines::kShort);

  // The content now, valid until the next call. Fails with the kernel's reason; the next call opens
  // the file afresh after kNotFound and errors of the device.
  base::Result<std::string_view> read();

  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::size_t limit_bytes_;
  Lines lines_;
  base::UniqueFd fd_;
  bool stays_open_ = false;
  std::vector<char> buffer_;
};

}  // namespace everywatt::host
