// SPDX-License-Identifier: Apache-2.0
#include "serve/remote_write/taker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace everywatt::remote_write {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecondMs = 1'000;
// A wall clock that is set back less is waited for; receivers refuse what is older than the newest.
constexpr std::int64_t kMostSetBackMs = 60 * kSecondMs;
constexpr std::int64_t kDiskWaitNs = 1'000'000'000;

std::int64_t floor_to(std::int64_t time_ms, std::int64_t period_ms) {
  return time_ms / period_ms * period_ms;
}
std::int64_t ceil_to(std::int64_t time_ms, std::int64_t period_ms) {
  return floor_to(time_ms + period_ms - 1, period_ms);
}

std::int64_t wall_ms(const view::View& view, std::int64_t time_ns) {
  return view.wall_ns(time_ns) / kMillisecond;
}
std::int64_t boot_ns(const view::View& view, std::int64_t time_ms) {
  return time_ms * kMillisecond - view.recorder().wall_offset_ns();
}

}  // namespace

std::uint64_t boot_number(std::string_view boot_id) {
  // FNV-1a: the same in every version, for it is kept on the disk.
  std::uint64_t number = 0xcbf2'9ce4'8422'2325;
  for (const char c : boot_id) {
    number = (number ^ static_cast<unsigned char>(c)) * 0x100'0000'01b3;
  }
  return number;
}

exporter::Labels added_labels(const Options& options, const std::string& hostname) {
  exporter::Labels labels = options.labels;
  const auto add = [&labels](std::string name, std::string value) {
    const bool is_there =
        std::ranges::any_of(labels, [&name](const auto& label) { return label.first == name; });
    if (!is_there) labels.emplace_back(std::move(name), std::move(value));
  };
  add("job", "everywatt");
  add("instance", hostname);
  return labels;
}

Taker::Taker(const Options& options, const exporter::Options& exporter, const Moment& last,
             TakerDoors doors)
    : options_(options),
      doors_(std::move(doors)),
      period_ms_(std::max(options.step_ns / kMillisecond, kSecondMs)),
      encoder_(exporter),
      rows_(options.step_ns < kSecondMs * kMillisecond &&
                    exporter::has(options.names, exporter::Names::kNative)
                ? std::optional<exporter::RowEncoder>(std::in_place)
                : std::nullopt),
      book_(added_labels(options, exporter.hostname), rows_ ? &*rows_ : nullptr),
      last_(last) {}

std::int64_t Taker::step(view::View& view, std::int64_t now_ns) {
  for (unsigned taken = 0; taken < kAtOnce; ++taken) {
    if (!put_pending()) return now_ns + kDiskWaitNs;
    const std::int64_t next_ms = choose_next_ms(view, now_ns);
    const Moment moment{.wall_ms = next_ms,
                        .boot_ns = boot_ns(view, next_ms),
                        .boot = boot_number(view.recorder().boot_id())};
    const std::int64_t due_ns = moment.boot_ns + kSettleNs;
    if (due_ns > now_ns) return due_ns;
    take(view, moment);
  }
  return put_pending() ? now_ns : now_ns + kDiskWaitNs;
}

// The first multiple of the period that was not taken yet. A clock that is set moves all of the
// past with it: what was taken is told by boottime, so that it is not taken again under other names
// of its time.
std::int64_t Taker::choose_next_ms(const view::View& view, std::int64_t now_ns) {
  const std::int64_t now_ms = wall_ms(view, now_ns);
  if (last_.is_never()) return floor_to(now_ms, period_ms_);
  std::int64_t next_ms = floor_to(last_.wall_ms, period_ms_) + period_ms_;
  std::int64_t after_last_ms = 0;
  if (last_.boot == boot_number(view.recorder().boot_id())) {
    after_last_ms = floor_to(wall_ms(view, last_.boot_ns), period_ms_) + period_ms_;
  }
  next_ms = std::max(next_ms, after_last_ms);
  if (next_ms > now_ms + period_ms_ + kMostSetBackMs) {
    base::log(base::LogLevel::kWarning,
              fmt::format("remote write {}: the clock was set back by {} s; a receiver may refuse "
                          "samples until it is where it was",
                          options_.name, (next_ms - period_ms_ - now_ms) / kSecondMs));
    book_.forget();
    next_ms = after_last_ms != 0 ? after_last_ms : floor_to(now_ms, period_ms_);
    last_.wall_ms = next_ms - period_ms_;
  }
  return skip_what_is_gone(view, next_ms, now_ns);
}

std::int64_t Taker::skip_what_is_gone(const view::View& view, std::int64_t next_ms,
                                      std::int64_t now_ns) const {
  if (next_ms + 2 * period_ms_ > wall_ms(view, now_ns)) return next_ms;
  const std::int64_t oldest_ns = std::max(view.first_row_ns(), now_ns - kReachNs);
  return std::max(next_ms, ceil_to(wall_ms(view, oldest_ns), period_ms_));
}

void Taker::take(view::View& view, const Moment& moment) {
  if (!are_series_known_) recall_series(view);
  view.set_now(moment.boot_ns);
  if (rows_) {
    book_.begin_rows(view.recorder().wall_offset_ns());
    // The very first moment is not the time to tell of a quarter of an hour.
    const std::int64_t reach_ns = last_.is_never() ? period_ms_ * kMillisecond : kReachNs;
    const std::int64_t from_ns = last_.boot == moment.boot ? last_.boot_ns : 0;
    rows_->encode(view, std::max(from_ns, moment.boot_ns - reach_ns), options_.metrics, book_);
  }
  book_.begin_snapshot(moment.wall_ms);
  encode(view);
  last_ = moment;
  pending_ = Pending{.bodies = book_.finish(doors_.samples_at_most()), .moment = moment};
}

// What an earlier process sent last, so that its series end when they ended while nobody was there.
void Taker::recall_series(view::View& view) {
  are_series_known_ = true;
  if (last_.is_never() || last_.boot != boot_number(view.recorder().boot_id())) return;
  view.set_now(last_.boot_ns);
  book_.begin_known(last_.wall_ms);
  encode(view);
}

void Taker::encode(const view::View& view) {
  exporter::Exposition out(book_);
  out.set_filter(options_.metrics);
  encoder_.encode(view, {.names = options_.names}, out);
  out.end();
}

bool Taker::put_pending() {
  if (!pending_) return true;
  if (!pending_->bodies.empty()) {
    const base::Status put = doors_.append(pending_->bodies, pending_->moment);
    if (!put) {
      if (!std::exchange(is_trouble_logged_, true)) {
        base::log(base::LogLevel::kWarning, fmt::format("remote write {}: no sample is queued: {}",
                                                        options_.name, put.error().message));
      }
      return false;
    }
  }
  if (std::exchange(is_trouble_logged_, false)) {
    base::log(base::LogLevel::kNotice,
              fmt::format("remote write {}: samples are queued again", options_.name));
  }
  pending_.reset();
  return true;
}

}  // namespace everywatt::remote_write
