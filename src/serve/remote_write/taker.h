// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/view/view.h"
#include "serve/exporter/exporter.h"
#include "serve/exporter/row_encoder.h"
#include "serve/remote_write/options.h"
#include "serve/remote_write/queue_record.h"
#include "serve/remote_write/series_book.h"

namespace everywatt::remote_write {

// Which boot a Moment is of, from what /proc/sys/kernel/random/boot_id says.
std::uint64_t boot_number(std::string_view boot_id);

// The labels that a destination adds to every series.
exporter::Labels added_labels(const Options& options, const std::string& hostname);

struct TakerDoors {
  std::function<base::Status(std::span<const exporter::Body>, const Moment&)> append;
  std::function<std::size_t()> samples_at_most;
};

// Takes the samples of one destination when they are due: at each multiple of its step what a
// scrape would show then; with a step below a second each second, with the rows of the fast lanes
// one by one. Goes on where it stopped, as far as the recorder reaches back. One thread.
class Taker {
 public:
  // How long after a moment it is taken: rows are written some time after they are read.
  static constexpr std::int64_t kSettleNs = 250'000'000;
  // What rings hold.
  static constexpr std::int64_t kReachNs = 900'000'000'000;
  // Moments in one step: a thread that is to end does not wait for a quarter of an hour of them.
  static constexpr unsigned kAtOnce = 16;

  // `options` must outlive this. `last`: what was taken before, by an earlier process.
  Taker(const Options& options, const exporter::Options& exporter, const Moment& last,
        TakerDoors doors);

  // Takes what is due and changes the view's now. When to call it next (boottime).
  std::int64_t step(view::View& view, std::int64_t now_ns);

  const Moment& last() const { return last_; }

 private:
  struct Pending {
    std::vector<exporter::Body> bodies;
    Moment moment;
  };
  std::int64_t choose_next_ms(const view::View& view, std::int64_t now_ns);
  std::int64_t skip_what_is_gone(const view::View& view, std::int64_t next_ms,
                                 std::int64_t now_ns) const;
  void take(view::View& view, const Moment& moment);
  void recall_series(view::View& view);
  void encode(const view::View& view);
  bool put_pending();

  const Options& options_;
  TakerDoors doors_;
  std::int64_t period_ms_;
  exporter::Encoder encoder_;
  std::optional<exporter::RowEncoder> rows_;
  SeriesBook book_;
  Moment last_;
  bool are_series_known_ = false;
  std::optional<Pending> pending_;
  bool is_trouble_logged_ = false;
};

}  // namespace everywatt::remote_write
