// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

// All that the recorder asks of the file system when it makes a file. Inside the room only.
namespace everywatt::recorder {

// A file that gets its name when it is complete, and never exists under it before. Move-only;
// removes what it left in the folder unless it was committed.
class NewFile {
 public:
  // Looks at what has the name now (see Predecessor rules in new_file.cc), and creates the file
  // under another name beside it, with exactly `mode`; what killed processes left of their making
  // there goes. kNoPermission, kInvalidArgument: the name is taken by something that is not ours to
  // replace. kNotFound: no such folder. kUnavailable: somebody removed it meanwhile. kIo.
  static base::Result<NewFile> create(const std::string& path, unsigned mode);
  // In memory, without a name; commit() has nothing to do.
  static base::Result<NewFile> create_anonymous();

  NewFile(NewFile&& other) noexcept = default;
  NewFile& operator=(NewFile&& other) noexcept = default;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();

  int fd() const { return fd_.get(); }
  // Gives the file its name. From then on the predecessor, if it is a recorder file of this
  // version, tells its readers that it has a successor.
  base::Status commit();

 private:
  NewFile() = default;
  base::UniqueFd fd_;
  base::UniqueFd predecessor_;
  std::string path_;       // "": without a name
  std::string temporary_;  // "": nothing to remove
};

// The file's size, a hole throughout.
base::Status set_size(int fd, std::uint64_t bytes, const std::string& name);

// Makes the bytes exist, so that writing them through a mapping cannot fail: a full file system
// would answer that with SIGBUS. kIo: there is no room; the hint says what to do.
base::Status make_room(int fd, std::uint64_t offset, std::uint64_t bytes, const std::string& name);

// Whether what is written to the file stays in memory (tmpfs, ramfs, memfd).
bool is_in_memory(int fd);

}  // namespace everywatt::recorder
