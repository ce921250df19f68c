// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "record/recorder/pattern_row.h"
#include "record/recorder/ring_access.h"
#include "record/recorder/small_file.h"

// Nobody ever sees a value that was not written: with a writer that is killed at any instant, and
// with readers that are slower than the ring.
namespace everywatt::recorder {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Reading;
using catalog::Row;
using catalog::Scope;
using std::chrono::steady_clock;

constexpr unsigned kReaders = 8;
// So few rows that readers are overtaken all the time.
constexpr std::uint64_t kCapacity = 4;
constexpr std::chrono::milliseconds kDuration{1500};
// Some hundreds happen in that time, but a slow machine or a sanitizer must not decide on it.
constexpr std::uint64_t kKillsAtLeast = 30;

// Shared with the processes that a test starts.
struct Control {
  std::atomic<bool> is_over = false;
  std::array<std::atomic<std::uint64_t>, kReaders> whole{};  // rows read
  std::array<std::atomic<std::uint64_t>, kReaders> lost{};
  std::atomic<std::uint64_t> wrong = 0;
};

class SharedControl {
 public:
  SharedControl() {
    void* memory =
        ::mmap(nullptr, sizeof(Control), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    control_ = new (memory) Control;
  }
  ~SharedControl() { ::munmap(control_, sizeof(Control)); }
  SharedControl(const SharedControl&) = delete;
  SharedControl& operator=(const SharedControl&) = delete;
  Control& operator*() { return *control_; }

 private:
  Control* control_;
};

void append_forever(Writer writer, std::uint64_t author, const std::atomic<bool>& is_over) {
  Row row(Scope::kGpu, Lane::kGauge);
  while (!is_over.load(std::memory_order_relaxed)) {
    fill_pattern(writer.published(), author, row);
    writer.append(row);
  }
}

// What is seen of a row through read_cell must be of one row, too.
bool is_true_cell(std::uint64_t sequence, MetricId id, const Reader::Cell& cell) {
  const std::size_t place = catalog::column(id).first_cell;
  const auto author = static_cast<std::uint64_t>(cell.window_start_ns);
  const catalog::State state = pattern_state(sequence, place);
  const Reading expected = {
      state, state == catalog::State::kOk ? pattern_word(sequence, author, place + 1) : 0};
  return cell.time_ns == static_cast<std::int64_t>(sequence) && cell.reading == expected &&
         static_cast<std::uint64_t>(cell.window_end_ns) == pattern_word(sequence, author, 0);
}

// Tries one row near either end of the ring in all ways. Returns false for what was never written.
bool read_one(const Reader& reader, std::uint32_t ring, std::uint64_t sequence, Row& row,
              Control& control, unsigned self) {
  const RowState state = reader.read(ring, sequence, row);
  if (state == RowState::kDamaged) return false;
  if (state == RowState::kOk && !is_pattern(sequence, row)) return false;
  (state == RowState::kOk ? control.whole : control.lost)[self].fetch_add(
      1, std::memory_order_relaxed);

  for (const MetricId id : {MetricId::gpu_utilization_ratio, MetricId::gpu_memory_free_bytes}) {
    Reader::Cell cell;
    if (reader.read_cell(ring, sequence, id, 0, cell) == RowState::kOk &&
        !is_true_cell(sequence, id, cell)) {
      return false;
    }
  }
  const auto time_ns = reader.read_time(ring, sequence);
  return !time_ns || *time_ns == static_cast<std::int64_t>(sequence);
}

void read_until_over(const Reader& reader, Control& control, unsigned self) {
  const std::uint32_t ring = reader.find_ring(kSmallFileGpu, Lane::kGauge).value();
  Row row(Scope::kGpu, Lane::kGauge);
  std::uint64_t seen = 0;
  for (std::uint64_t turn = 0; !control.is_over.load(std::memory_order_relaxed); ++turn) {
    const std::uint64_t published = reader.published(ring);
    if (published < seen) control.wrong.fetch_add(1);
    seen = published;
    if (published == 0) continue;
    const std::uint64_t age = turn % (kCapacity + 1);
    const std::uint64_t sequence = published > age ? published - 1 - age : 0;
    if (!read_one(reader, ring, sequence, row, control, self)) control.wrong.fetch_add(1);
  }
}

// A child process that ends with this one, whatever happens.
template <typename Body>
pid_t start(Body body) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() == parent) body();
  ::_exit(0);
}

void expect_all_read(const Control& control) {
  EXPECT_EQ(control.wrong.load(), 0U);
  for (unsigned i = 0; i < kReaders; ++i)
    EXPECT_GT(control.whole[i].load(), 0U) << i;
}

TEST(RecorderTorture, ReadersInOtherProcessesSeeOnlyWhatWasWrittenByWritersThatAreKilled) {
  const auto file = File::create_anonymous(small_layout(kCapacity)).value();
  Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  SharedControl shared;
  Control& control = *shared;
  std::array<pid_t, kReaders> readers{};
  for (unsigned i = 0; i < kReaders; ++i) {
    readers[i] = start([&] { read_until_over(*read_of(*file), control, i); });
    ASSERT_GT(readers[i], 0);
  }
  std::minstd_rand random(1);
  std::uniform_int_distribution<unsigned> life_us(0, 3000);
  std::uint64_t killed = 0;
  Row last(Scope::kGpu, Lane::kGauge);
  const auto end = steady_clock::now() + kDuration;
  while (steady_clock::now() < end || killed < kKillsAtLeast) {
    const pid_t child = start([&] { append_forever(writer, killed, control.is_over); });
    ASSERT_GT(child, 0);
    ::usleep(life_us(random));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    ++killed;
    // What was published is whole after every death: accumulators go on from it.
    if (const std::uint64_t published = writer.published(); published > 0) {
      ASSERT_TRUE(writer.read_last(last));
      ASSERT_TRUE(is_pattern(published - 1, last));
    }
  }
  control.is_over = true;
  for (const pid_t reader : readers) {
    int status = 0;
    ASSERT_EQ(::waitpid(reader, &status, 0), reader);
    EXPECT_EQ(status, 0);
  }
  expect_all_read(control);
  EXPECT_GT(writer.published(), kCapacity);
}

// In one process, for the thread sanitizer.
TEST(RecorderTorture, ReadersInThreadsSeeOnlyWhatWasWritten) {
  const auto file = File::create_anonymous(small_layout(kCapacity)).value();
  const Writer writer = file->writer(kSmallFileGpu, Lane::kGauge).value();
  const auto reader = read_of(*file);
  Control control;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back([&] { append_forever(writer, 1, control.is_over); });
    for (unsigned i = 0; i < kReaders; ++i) {
      threads.emplace_back([&, i] { read_until_over(*reader, control, i); });
    }
    std::this_thread::sleep_for(kDuration);
    control.is_over = true;
  }
  expect_all_read(control);
}

// The same on one mapping: the sanitizer knows memory by its address, and a reader has its own.
TEST(RecorderTorture, TheTwoAlgorithmsAreFreeOfRaces) {
  constexpr std::uint32_t kCells = 20;
  RingEntry entry{};
  entry.capacity = kCapacity;
  entry.row_words = row_words(kCells);
  std::vector<Word> rows(kCapacity * entry.row_words);
  const RingPlace place{.capacity = kCapacity, .row_words = entry.row_words};
  Control control;
  const auto write = [&] {
    std::array<std::uint64_t, 3> head{};
    std::array<std::uint64_t, 2> states{};
    std::array<std::uint64_t, kCells> cells{};
    while (!control.is_over.load(std::memory_order_relaxed)) {
      const std::uint64_t sequence = entry.published.load(std::memory_order_relaxed);
      cells.fill(pattern_word(sequence, 0, 0));
      publish_row(entry, rows.data(), place, head, states, cells);
    }
  };
  const auto read = [&](unsigned self) {
    std::vector<std::uint64_t> words(place.row_words);
    while (!control.is_over.load(std::memory_order_relaxed)) {
      const std::uint64_t published = entry.published.load(std::memory_order_acquire);
      if (published == 0) continue;
      const RowState state = copy_row(entry, rows.data(), place, published - 1, words.data());
      if (state == RowState::kOk) control.whole[self].fetch_add(1);
      const bool is_true =
          state == RowState::kLost ||
          (state == RowState::kOk && words.back() == pattern_word(published - 1, 0, 0));
      if (!is_true) control.wrong.fetch_add(1);
    }
  };
  {
    std::vector<std::jthread> threads;
    threads.emplace_back(write);
    for (unsigned i = 0; i < kReaders; ++i)
      threads.emplace_back(read, i);
    std::this_thread::sleep_for(kDuration);
    control.is_over = true;
  }
  expect_all_read(control);
}

}  // namespace
}  // namespace everywatt::recorder
