// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>

#include "base/result.h"
#include "base/unique_fd.h"
#include "serve/web/message.h"

namespace everywatt::web {

struct Limits {
  // Those beyond are closed at once, unless another client holds more of them (places.h).
  std::size_t connections = 512;
  std::uint32_t header_bytes = 8192;  // a browser's cookies for localhost fit
  // A request's header must come whole within this from its first byte, and a new connection must
  // begin one, with TLS agreed upon before it.
  std::chrono::milliseconds request{10'000};
  // Between requests: longer than Prometheus' usual scrape interval of one minute.
  std::chrono::milliseconds idle{120'000};
  // For taking an answer.
  std::chrono::milliseconds answer{30'000};
};

class Authentication;

enum class Watching : std::uint8_t { kGoOn, kEnd };
enum class Readiness : std::uint8_t { kToRead, kToWrite };

// Speaks HTTP/1.1 on a listening socket: many connections, one thread, memory bounded by the
// limits. Malformed and too large requests are answered here (400, 413, 431); all others by
// `answer`.
class Connections {
 public:
  using Answer = std::function<Response(const Request&)>;

  // `authentication` says what is spoken and who is let in; null: plain HTTP, anybody. Must outlive
  // run().
  static base::Result<std::unique_ptr<Connections>> open(base::UniqueFd listener,
                                                         const Limits& limits, Answer answer,
                                                         Authentication* authentication = nullptr);
  ~Connections();

  // From run() on, calls `act` on the same thread whenever `descriptor` is ready, until it says
  // kEnd. Keeps a copy of the descriptor for so long. May be called from `act`.
  base::Status watch(int descriptor, Readiness readiness, std::function<Watching()> act);

  // Until the token stops it. Once.
  void run(const std::stop_token& stop);

 private:
  struct Loop;
  explicit Connections(std::unique_ptr<Loop> loop);
  std::unique_ptr<Loop> loop_;

  friend void serve_connection(base::UniqueFd, const Limits&, Answer);
};

// The same on one connected stream socket, of any family, until either end closes it.
void serve_connection(base::UniqueFd socket, const Limits& limits, Connections::Answer answer);

}  // namespace everywatt::web
