// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/gpm_lane.h"

#include <utility>

namespace everywatt::sampler {
namespace {

using catalog::State;

// The refresh takes 0.1 s; utilization lags by its own window of some 0.2 s. This long without
// movement is neither.
constexpr std::int64_t kDeadNs = 5'000'000'000;
// How often dead counters are taken up anew, and refused ones asked for.
constexpr std::int64_t kRearmNs = 30'000'000'000;
constexpr std::int64_t kRetryUnsupportedNs = 600'000'000'000;
// A state that lasts is said again so often: the ring forgets.
constexpr std::int64_t kRepeatNs = 10'000'000'000;

}  // namespace

GpmLane::GpmLane(recorder::Writer writer)
    : writer_(writer), row_(catalog::Scope::kGpu, catalog::Lane::kGpm) {}

void GpmLane::begin(nvml::Device& device, std::int64_t now_ns) {
  end();
  nvml::Answer<nvml::Gpm> gpm = nvml::Gpm::open(device);
  if (gpm) {
    gpm_.emplace(std::move(*gpm));
    retry_ns_ = 0;
    return;
  }
  write_absent(gpm.error(), now_ns);
  retry_ns_ = now_ns + (gpm.error() == State::kNotSupported ? kRetryUnsupportedNs : kRearmNs);
}

void GpmLane::end() {
  gpm_.reset();
  still_since_ns_ = 0;
  is_dead_ = false;
  absence_ = State::kOk;
}

void GpmLane::write_absent(State why, std::int64_t now_ns) {
  if (why == absence_ && now_ns - absence_ns_ < kRepeatNs) return;
  absence_ = why;
  absence_ns_ = now_ns;
  row_.clear();
  row_.time_ns = now_ns;
  row_.set_all_absent(why);
  writer_.append(row_);
}

const catalog::Row* GpmLane::tick(nvml::Device& device, std::int64_t now_ns,
                                  nvml::Elsewhere elsewhere) {
  if (!gpm_ || (is_dead_ && now_ns >= retry_ns_)) {
    if (now_ns < retry_ns_) {
      write_absent(absence_, now_ns);
      return nullptr;
    }
    const bool was_dead = std::exchange(is_dead_, false);
    begin(device, now_ns);
    // Until the counters move they are as dead as they were.
    is_dead_ = was_dead && gpm_.has_value();
    if (is_dead_) retry_ns_ = now_ns + kRearmNs;
    if (!gpm_) return nullptr;
  }
  if (const State taken = gpm_->take(now_ns); taken != State::kOk) {
    fail(taken, now_ns);
    return nullptr;
  }
  row_.clear();
  const State formed = gpm_->form(row_, elsewhere);
  if (formed == State::kOk) {
    still_since_ns_ = 0;
    is_dead_ = false;
    absence_ = State::kOk;
    writer_.append(row_);
    return &row_;
  }
  if (formed != State::kNoNewValue) {
    fail(formed, now_ns);
    return nullptr;
  }

  if (elsewhere != nvml::Elsewhere::kBusy) still_since_ns_ = 0;
  if (elsewhere == nvml::Elsewhere::kBusy && still_since_ns_ == 0) still_since_ns_ = now_ns;
  if (!is_dead_ && still_since_ns_ != 0 && now_ns - still_since_ns_ >= kDeadNs) {
    is_dead_ = true;
    retry_ns_ = now_ns + kRearmNs;
  }
  if (is_dead_) write_absent(State::kFailed, now_ns);
  return nullptr;
}

void GpmLane::fail(State why, std::int64_t now_ns) {
  write_absent(why, now_ns);
  gpm_->reset();
  if (why == State::kNotSupported) {
    gpm_.reset();
    retry_ns_ = now_ns + kRetryUnsupportedNs;
  }
}

}  // namespace everywatt::sampler
