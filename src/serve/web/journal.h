// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "catalog/row.h"
#include "record/recorder/writer.h"
#include "serve/exporter/exposition.h"
#include "serve/web/annotation.h"
#include "serve/web/sender_pace.h"

namespace everywatt::web {

// Where marks come from and go to. Neither open: the server takes none.
struct JournalOptions {
  base::UniqueFd socket = {};  // datagrams, with the senders' credentials (SO_PASSCRED)
  base::UniqueFd file = {};    // recorder::journal_layout(), open for writing
};

// Takes the marks that anybody on this machine sends, and writes those that are within the limits
// into the journal. What a message says of itself is its content alone: who sent it says the
// kernel. One thread.
class Journal {
 public:
  static base::Result<std::unique_ptr<Journal>> open(JournalOptions options,
                                                     base::Clock clock = base::boottime_ns);

  int socket() const { return socket_.get(); }
  // Takes what lies in the socket, at most kAtOnce messages: it waits for nothing.
  void receive();
  static constexpr unsigned kAtOnce = 64;

  struct Counts {
    std::uint64_t written = 0;
    std::uint64_t limited = 0;    // the sender was too fast
    std::uint64_t malformed = 0;  // it is none: see parse_annotation()
    std::uint64_t too_large = 0;
  };
  const Counts& counts() const { return counts_; }
  // The same as a family: everywatt_annotations_total{result=...}.
  void append_counts(exporter::Exposition& out) const;

 private:
  struct Sender {
    std::uint32_t uid = 0;
    std::uint32_t pid = 0;  // 0: none that we could know
  };
  Journal(base::UniqueFd socket, std::unique_ptr<recorder::File> file, recorder::Writer writer,
          base::Clock clock);
  bool receive_one();
  void write(const Annotation& annotation, const Sender& sender, std::int64_t now_ns);

  base::UniqueFd socket_;
  std::unique_ptr<recorder::File> file_;
  recorder::Writer writer_;
  base::Clock clock_;
  catalog::Row row_;
  SenderPace pace_;
  Counts counts_;
};

}  // namespace everywatt::web
