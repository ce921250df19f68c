// SPDX-License-Identifier: Apache-2.0
#include "base/fuzz_target.h"
#include "serve/courier_link/frame.h"
#include "serve/courier_link/messages.h"

namespace everywatt::courier_link {
namespace {

// What is understood says the same when it is said again.
void judge(const std::string& frame) {
  if (const auto delivery = parse_delivery(frame)) {
    const auto again = parse_delivery(format_delivery(*delivery));
    CHECK(again && *again == *delivery);
  }
  if (const auto message = parse_from_courier(frame)) {
    const auto again = parse_from_courier(format_from_courier(*message));
    CHECK(again && *again == *message);
  }
}

}  // namespace

// The bytes as one message, and as a stream that comes in two pieces.
FUZZ_TARGET(courier_frame) {
  judge(std::string(bytes));
  base::FuzzInput input(bytes);
  const std::size_t first = input.byte();
  FrameReader reader;
  for (const std::string_view piece : {input.take(first), input.rest()}) {
    reader.add(piece);
    for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
      CHECK((*frame)->size() <= bytes.size());
      judge(**frame);
    }
  }
}

}  // namespace everywatt::courier_link
