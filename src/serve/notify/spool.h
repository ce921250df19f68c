// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "serve/notify/notification.h"

namespace everywatt::notify {

// What is known of a file without reading it again.
struct SpoolItem {
  std::uint64_t number = 0;  // ascending in time; the name of its file
  std::int64_t accepted_wall_ns = 0;
  std::size_t parts_done = 0;  // messages of it that the channel has taken
  std::size_t bytes = 0;
  std::size_t alerts = 0;
  enum class Urgency { kNormal, kCritical } urgency = Urgency::kNormal;
};

// One channel's notifications on the disk, a file each: NUMBER.json, written under another name,
// synced and renamed, so that it is there whole or not at all whenever the power fails. Not
// thread-safe, but read() may run beside the others.
class Spool {
 public:
  // Makes the folder (0700) and reads what is in it. A file that is no notification is renamed to
  // NUMBER.bad and said in the log.
  static base::Result<Spool> open(std::string folder);

  // What open() found, in the order of their numbers.
  const std::vector<SpoolItem>& found() const { return found_; }

  base::Result<SpoolItem> add(const Notification& notification, std::int64_t wall_ns);
  base::Result<Notification> read(const SpoolItem& item) const;
  // Remembers parts_done.
  base::Status update(const SpoolItem& item);
  // Puts one file in the place of many: after a crash there is either. REQUIRES: together they have
  // at most kAlertsLimit alerts.
  base::Result<SpoolItem> merge(const std::vector<SpoolItem>& items);
  base::Status remove(const SpoolItem& item);
  // Keeps it for people in failed/, the last hundred of them.
  base::Status set_aside(const SpoolItem& item);

 private:
  struct Stored;

  explicit Spool(std::string folder) : folder_(std::move(folder)) {}
  std::string path(std::uint64_t number) const;
  base::Status load();
  base::Result<Stored> read_stored(std::uint64_t number) const;
  SpoolItem describe(std::uint64_t number, const Stored& stored, std::size_t bytes) const;
  base::Result<SpoolItem> write(std::uint64_t number, const Stored& stored);
  base::Status sync_folder() const;

  std::string folder_;
  std::vector<SpoolItem> found_;
  std::uint64_t next_number_ = 1;
};

}  // namespace everywatt::notify
