// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/mapped_file.h"
#include "base/result.h"
#include "device/sim/calls.h"

namespace everywatt::sim {

// The shared file that says which moment is played, for the library in any number of processes, the
// player and the tests. 64-bit little-endian words, written and read singly, so any language can
// map it or seek in it:
//
// - byte 0: magic "EWPLAY1\0"
// - byte 8: mode: 0 stepped, 1 real time
// - byte 16: position: played nanoseconds (stepped mode)
// - byte 24: origin: CLOCK_BOOTTIME nanoseconds of played time 0 (real time)
// - byte 32: rate: millionths of real time (real time)
// - byte 40: wall: nanoseconds since 1970 of played time 0; the stamps of samples follow from it
// - byte 48: number of counted functions, then 8 bytes of zero
// - byte 64: 64 words: how often each fault of the scenario has fired, in the scenario's order
// - byte 576: 64 bytes a function: its name, zero-padded to 56, then how often it was called
//
// Only the mode, position, origin, rate and wall may be changed by others, at any time.
struct PlayheadWords {
  static constexpr std::size_t kMaxFaults = 64;
  struct Count {
    char name[56];
    std::atomic<std::uint64_t> calls;
  };

  char magic[8];
  std::atomic<std::uint64_t> mode;
  std::atomic<std::int64_t> position_ns;
  std::atomic<std::int64_t> origin_ns;
  std::atomic<std::int64_t> rate_millionths;
  std::atomic<std::int64_t> wall_ns;
  std::atomic<std::uint64_t> functions;
  std::uint64_t unused;
  std::atomic<std::uint64_t> faults_fired[kMaxFaults];
  Count counts[kCalls.size()];
};
static_assert(sizeof(PlayheadWords::Count) == 64);
static_assert(offsetof(PlayheadWords, mode) == 8 && offsetof(PlayheadWords, position_ns) == 16);
static_assert(offsetof(PlayheadWords, wall_ns) == 40 && offsetof(PlayheadWords, functions) == 48);
static_assert(offsetof(PlayheadWords, faults_fired) == 64 &&
              offsetof(PlayheadWords, counts) == 576);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

enum class Pace { kStepped, kRealTime };

// A moment of the play: played time, and what the driver's stamps say then.
struct Moment {
  std::int64_t played_ns = 0;
  std::int64_t wall_ns = 0;
};

// Move-only handle on a playhead. All methods may be called from any thread.
class Playhead {
 public:
  // Writes a new playhead file at played time 0 (real time: 0 is now). An existing file is
  // replaced.
  static base::Status create(const std::string& path, Pace pace);
  static base::Result<Playhead> open(const std::string& path);
  // One that no other process sees, in real time from now.
  static Playhead unshared();

  Moment now() const;
  bool is_stepped() const;
  // The wall clock stamp of a played time.
  std::int64_t wall_ns(std::int64_t played_ns) const;

  // CLOCK_BOOTTIME of played time 0; in stepped mode, of the file's making.
  std::int64_t origin_ns() const;

  // Stepped mode from here on, at this played time.
  void step_to(std::int64_t played_ns);

  void count(Call call) {
    words().counts[call.number].calls.fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t calls(Call call) const { return words().counts[call.number].calls.load(); }
  // Counts one more firing of a fault; returns how often it had fired before, in all processes.
  std::uint64_t count_fault(std::size_t fault) { return words().faults_fired[fault].fetch_add(1); }

 private:
  Playhead() = default;
  PlayheadWords& words() const;

  base::MappedFile file_;
  std::unique_ptr<PlayheadWords> own_;  // when there is no file
};

}  // namespace everywatt::sim
