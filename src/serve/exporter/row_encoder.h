// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "read/view/view.h"
#include "serve/exporter/exposition.h"

namespace everywatt::exporter {

// Takes samples that have a time of their own.
class TimedSink : public SampleSink {
 public:
  // Boottime of the samples that follow.
  virtual void set_time(std::int64_t time_ns) = 0;
};

// Encodes the rows of the lanes that have several a second, one by one, in native names: the same
// series as Encoder gives, with every reading once. Pure but for its place in the rings, which it
// remembers from call to call; one thread at a time.
class RowEncoder {
 public:
  RowEncoder();
  ~RowEncoder();
  RowEncoder(RowEncoder&&) noexcept;
  RowEncoder& operator=(RowEncoder&&) noexcept;

  // Whether its series are those of the rows: a name as in an Exposition, without labels.
  bool has_family(std::string_view name) const;

  // The rows after those of the last call up to the view's now; of a ring that was not met before,
  // or of another file, those after `from_ns`. `filter` as in Exposition. Rows of a ring are in
  // order of time.
  void encode(const view::View& view, std::int64_t from_ns, std::span<const std::string> filter,
              TimedSink& sink);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace everywatt::exporter
