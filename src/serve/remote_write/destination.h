// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "read/view/view.h"
#include "serve/outgoing/http_client.h"
#include "serve/remote_write/remote_write.h"
#include "serve/remote_write/sender.h"
#include "serve/remote_write/taker.h"

namespace everywatt::remote_write {

// One destination: what one thread takes for it and another one sends.
class Destination {
 public:
  // `folder`: of its queue.
  static base::Result<std::unique_ptr<Destination>> open(Options options, std::string folder,
                                                         const exporter::Options& exporter,
                                                         std::uint64_t this_boot);

  // Of the thread that takes. When to call it next (boottime).
  std::int64_t take(view::View& view, std::int64_t now_ns);
  // What was taken is on the disk, whatever happens to the machine.
  void sync();
  // Of the thread that sends: until `stop`.
  void send(const std::stop_token& stop);

  DestinationStatus status();  // any thread

 private:
  Destination(Options options, outgoing::HttpClient client);
  base::Status append(std::span<const exporter::Body> bodies, const Moment& moment);
  void wait(std::int64_t due_ns, const std::stop_token& stop);

  const Options options_;
  outgoing::HttpClient client_;  // of the thread that sends
  SharedQueue shared_;
  std::condition_variable_any news_;  // with shared_.mutex
  bool has_news_ = false;             // guarded by shared_.mutex
  std::unique_ptr<Sender> sender_;
  std::unique_ptr<Taker> taker_;  // of the thread that takes
};

}  // namespace everywatt::remote_write
