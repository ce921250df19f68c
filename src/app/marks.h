// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "app/journal_file.h"
#include "app/run_folder.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace everywatt::app {

// Where this machine's users leave marks, made by who may make it and given to the server: the
// socket in the run folder, and the journal with a link to it beside the recorder, so that readers
// find it. The socket's name goes with this object.
class Marks {
 public:
  static base::Result<Marks> open(const RunFolder& folder, const std::string& data_folder);
  Marks(Marks&&) noexcept = default;
  Marks& operator=(Marks&& other) = delete;
  ~Marks();

  int socket() const { return socket_.get(); }
  recorder::File& journal() { return *journal_.file; }

 private:
  Marks(base::UniqueFd folder, base::UniqueFd socket, JournalFile journal)
      : folder_(std::move(folder)), socket_(std::move(socket)), journal_(std::move(journal)) {}

  base::UniqueFd folder_;
  base::UniqueFd socket_;
  JournalFile journal_;
};

// Before a daemon without marks starts: no reader and no sender takes what an earlier one left for
// something of this one.
void forget_marks(const RunFolder& folder);

// Leaves one mark. `message`: see web::parse_annotation(). Waits a second at most. kUnavailable:
// the daemon of that run folder takes none, or too many at once. kInvalidArgument: too long.
base::Status send_mark(const std::string& run_folder, const std::string& message);

}  // namespace everywatt::app
