// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/result.h"
#include "catalog/row.h"
#include "record/recorder/format.h"
#include "record/recorder/layout.h"
#include "record/recorder/ring_access.h"

namespace everywatt::recorder {

class File;

// The one writer of one ring. Belongs to one thread at a time; must not outlive its File.
// append() costs one pass over the row's words and no system call.
class Writer {
 public:
  // REQUIRES: the row's scope and lane are the ring's; its time is not before the last row's.
  void append(const catalog::Row& row);

  // The newest row that an earlier writer left, into `row`: how accumulators go on. False: none, or
  // it is damaged; `row` is then clear.
  bool read_last(catalog::Row& row) const;

  std::uint64_t published() const;
  std::uint64_t capacity() const;

 private:
  friend class File;
  Writer(RingEntry* ring, Word* rows, const RingPlace& place, catalog::Scope scope,
         catalog::Lane lane)
      : ring_(ring), rows_(rows), place_(place), scope_(scope), lane_(lane) {}

  RingEntry* ring_ = nullptr;
  Word* rows_ = nullptr;
  RingPlace place_;
  catalog::Scope scope_;
  catalog::Lane lane_;
};

class NewFile;
struct Tables;

// A recorder file open for writing. Each part opens the same file and takes the writers of its own
// rings. Thread-safe but for the Writers it hands out.
class File {
 public:
  // Creates `path` with `mode` under another name, fills in header and tables and renames it into
  // place. The machine and the parts are there from the start (kOk), other slots are unused. An
  // existing recorder file at `path` is marked as succeeded; its mapped readers keep reading it.
  // kNoPermission, kInvalidArgument: something is at `path` that is not ours to replace (a symbolic
  // link, another user's file, no recorder file). kIo (no space: the hint says what to do).
  static base::Result<std::unique_ptr<File>> create(const std::string& path, unsigned mode,
                                                    const LayoutOptions& options);
  // The same up to the name: for a file that must hold rows when it appears. It gets its name, and
  // takes the place of an existing one, with commit(); without, it vanishes with the object.
  static base::Result<std::unique_ptr<File>> prepare(const std::string& path, unsigned mode,
                                                     const LayoutOptions& options);
  base::Status commit();
  // The same without a name, in memory only (memfd): for one command that reads by itself, and
  // tests.
  static base::Result<std::unique_ptr<File>> create_anonymous(const LayoutOptions& options);
  // Takes up a file created by this version (passed by the supervisor). kCorrupt: it is not one.
  static base::Result<std::unique_ptr<File>> adopt(base::UniqueFd fd);
  ~File();

  // Makes the ring's pages exist and returns its writer, which goes on where an earlier one ended.
  // kNotFound: the file has no such ring. kIo: the folder is full. Taking the writer of a ring
  // twice is the caller's mistake.
  base::Result<Writer> writer(std::uint32_t device, catalog::Lane lane);

  Header& header() { return *header_; }
  DeviceSlot& device(std::uint32_t slot);
  std::uint32_t device_count() const { return header_->device_count; }
  PartSlot& part(Part part) { return header_->parts[static_cast<unsigned>(part)]; }
  // The slots of a scope in order; for kGpu those without (parent == kNoParent) or with a parent.
  std::vector<std::uint32_t> slots(catalog::Scope scope, std::uint32_t parent = kNoParent) const;
  // Sets status, its time, and a new generation when the device (re)appears: from anything else to
  // kOk. The status that it has already keeps its time.
  void set_status(std::uint32_t slot, DeviceStatus status, std::int64_t now_ns);

  // False: its folder is on a disk, so every row costs disk writes, and a full or slow disk is
  // felt.
  bool is_in_memory() const;

  int fd() const { return mapped_.fd(); }

 private:
  File(base::MappedFile mapped, Tables tables, std::string name);
  static base::Result<std::unique_ptr<File>> fill(std::unique_ptr<NewFile> place, Tables tables,
                                                  const std::string& name);
  void enter_constant_devices();
  std::byte* at(std::uint64_t offset) const { return mapped_.bytes() + offset; }

  base::MappedFile mapped_;
  Header* header_ = nullptr;
  // A copy of the constant part, so that writers need not search the shared one.
  std::unique_ptr<const Tables> tables_;
  std::string name_;                // for messages
  std::unique_ptr<NewFile> place_;  // until commit()
};

}  // namespace everywatt::recorder
