// SPDX-License-Identifier: Apache-2.0
#include "base/failing_calls.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "record/recorder/copy.h"
#include "record/recorder/pattern_row.h"
#include "record/recorder/small_file.h"

namespace everywatt::recorder {
namespace {

using base::FailingCall;
using base::SystemCall;
using catalog::Lane;

constexpr std::uint64_t kRows = 3;

// Whatever call fails, an operation either works all the same or gives one clear error; the file
// that was there is whole, nothing is left over, and the next attempt works.
class FailingCallsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    // A disk would make a minute of it.
    const bool has_memory = ::access("/dev/shm", W_OK) == 0;
    std::string pattern = (has_memory ? "/dev/shm/" : ::testing::TempDir()) + "failing-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/recorder";
    source_ = File::create_anonymous(small_layout(64)).value();
    add_rows(*source_, 40, kRows);
    reader_ = read_of(*source_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static void add_rows(File& file, std::uint64_t count, std::uint64_t author) {
    Writer writer = file.writer(kSmallFileGpu, Lane::kGauge).value();
    catalog::Row row(catalog::Scope::kGpu, Lane::kGauge);
    for (std::uint64_t i = 0; i < count; ++i) {
      fill_pattern(i, author, row);
      writer.append(row);
    }
  }

  // The file that is there before each attempt.
  void put_file() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    add_rows(*File::create(path_, 0640, small_layout(8)).value(), kRows, kRows);
    // A process that was killed left it.
    std::filesystem::copy(path_, path_ + ".1.tmp");
  }
  // Whether a whole recorder file has the name, the old one or a new one.
  std::string complaint_about_file() const {
    const auto reader = Reader::open(path_);
    if (!reader) return reader.error().message;
    const auto ring = (*reader)->find_ring(kSmallFileGpu, Lane::kGauge).value();
    catalog::Row row(catalog::Scope::kGpu, Lane::kGauge);
    for (std::uint64_t i = (*reader)->oldest(ring); i < (*reader)->published(ring); ++i) {
      if ((*reader)->read(ring, i, row) != RowState::kOk || !is_pattern(i, row)) {
        return fmt::format("row {} is not what was written", i);
      }
    }
    if ((*reader)->has_successor()) return "it says that another one has its name";
    return {};
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& each : std::filesystem::directory_iterator(folder_)) {
      found.insert(each.path().filename());
    }
    return found;
  }
  static std::size_t open_files() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      ++count;
    }
    return count;
  }

 public:
  base::Status create() {
    auto file = File::create(path_, 0640, small_layout(8));
    if (!file) return std::unexpected(file.error());
    auto writer = (*file)->writer(kSmallFileGpu, Lane::kGauge);
    if (!writer) return std::unexpected(writer.error());
    static_cast<void>((*file)->is_in_memory());
    return {};
  }
  base::Status create_anonymous() {
    auto file = File::create_anonymous(small_layout(8));
    if (!file) return std::unexpected(file.error());
    base::UniqueFd passed_on(::fcntl((*file)->fd(), F_DUPFD_CLOEXEC, 0));
    if (!passed_on.is_open()) return base::fail_errno("pass on", "it");
    auto again = File::adopt(std::move(passed_on));
    return again ? base::Status() : std::unexpected(again.error());
  }
  base::Status open() {
    auto reader = Reader::open(path_);
    return reader ? base::Status() : std::unexpected(reader.error());
  }
  // Grows from 4 rows to 64 on the way.
  base::Status record() {
    Recording::Options options{.path = path_, .mode = 0640};
    options.capacity[static_cast<unsigned>(catalog::Scope::kGpu)]
                    [static_cast<unsigned>(Lane::kGauge)] = 16;
    auto recording = Recording::create(*reader_, options);
    if (!recording) return std::unexpected(recording.error());
    auto copied = (*recording)->copy_new(*reader_);
    return copied ? base::Status() : std::unexpected(copied.error());
  }
  base::Status write_note() {
    return base::write_file_atomically(folder_ + "/note", std::string(10'000, 'x'), 0644);
  }
  base::Status read_note() {
    const auto text = base::read_file("/proc/self/status");
    return text ? base::Status() : std::unexpected(text.error());
  }

 protected:
  struct Operation {
    const char* name;
    base::Status (FailingCallsTest::*run)();
  };
  // The operation while the nth call of that kind fails, and once more without. False: it makes
  // fewer.
  bool try_failing(const Operation& operation, SystemCall call, unsigned nth, int error);

  std::string folder_;
  std::string path_;
  std::unique_ptr<File> source_;
  std::unique_ptr<Reader> reader_;
};

// How an operation takes the failure of a call. What is not listed here gives an error that says
// what the system said.
enum class Taken { kWell, kEitherWay };

struct Way {
  SystemCall call;
  int error;  // 0: any
  Taken taken;
};

constexpr Way kWays[] = {
    // Asked again.
    {SystemCall::kFtruncate, EINTR, Taken::kWell},
    {SystemCall::kFallocate, EINTR, Taken::kWell},
    {SystemCall::kFlock, EINTR, Taken::kWell},
    {SystemCall::kRead, EINTR, Taken::kWell},
    {SystemCall::kWrite, EINTR, Taken::kWell},
    {SystemCall::kRead, base::kShort, Taken::kWell},
    {SystemCall::kWrite, base::kShort, Taken::kWell},
    // Nothing hangs on it: what the dead left, who hears of a successor, whether a folder is in
    // memory, which boot it is, whether it is a copy into itself.
    {SystemCall::kOpendir, 0, Taken::kWell},
    {SystemCall::kReaddir, 0, Taken::kWell},
    {SystemCall::kFlock, 0, Taken::kWell},
    {SystemCall::kPwrite, 0, Taken::kWell},
    {SystemCall::kFstatfs, 0, Taken::kWell},
    {SystemCall::kStat, 0, Taken::kWell},
    {SystemCall::kRead, 0, Taken::kEitherWay},
    // Asked for what matters and for what does not.
    {SystemCall::kOpen, 0, Taken::kEitherWay},
    {SystemCall::kFstat, 0, Taken::kEitherWay},
    {SystemCall::kLstat, 0, Taken::kEitherWay},
    // A header that is cut is of no version: the file is replaced and its readers hear nothing.
    {SystemCall::kPread, EINTR, Taken::kEitherWay},
    {SystemCall::kPread, base::kShort, Taken::kEitherWay},
    {SystemCall::kPread, base::kEnd, Taken::kEitherWay},
};

std::optional<Taken> taken(SystemCall call, int error) {
  for (const Way& way : kWays) {
    if (way.call == call && (way.error == error || way.error == 0)) return way.taken;
  }
  return std::nullopt;
}

bool FailingCallsTest::try_failing(const Operation& operation, SystemCall call, unsigned nth,
                                   int error) {
  put_file();
  const std::size_t files_before = open_files();
  const long mappings_before = FailingCall::live_mappings();
  const auto where = fmt::format("{}: call {} of {} with {}", operation.name, nth,
                                 base::system_call_name(call), error);
  base::Status status;
  {
    FailingCall failing(call, nth, error);
    status = (this->*operation.run)();
    if (!failing.was_hit()) return false;
  }
  const auto way = taken(call, error);
  if (way == Taken::kWell) {
    EXPECT_TRUE(status) << where << ": " << status.error().message;
  } else if (!way) {
    EXPECT_FALSE(status) << where;
  }
  if (!status && error > 0) {
    EXPECT_NE(status.error().message.find(std::strerror(error)), std::string::npos)
        << where << ": " << status.error().message;
  }
  EXPECT_EQ(open_files(), files_before) << where;
  EXPECT_EQ(FailingCall::live_mappings(), mappings_before) << where;
  EXPECT_EQ(complaint_about_file(), "") << where;
  const auto status_after = (this->*operation.run)();
  EXPECT_TRUE(status_after) << where << ": " << status_after.error().message;
  std::set<std::string> left = names();
  left.erase("note");
  // Of what a killed process left, a call that looks for it may have failed.
  left.erase("recorder.1.tmp");
  EXPECT_EQ(left, (std::set<std::string>{"recorder"})) << where;
  return true;
}

TEST_F(FailingCallsTest, AnyCallOfAnyOperationMayFail) {
  const Operation kOperations[] = {
      {"create", &FailingCallsTest::create},
      {"create in memory", &FailingCallsTest::create_anonymous},
      {"open", &FailingCallsTest::open},
      {"record", &FailingCallsTest::record},
      {"write", &FailingCallsTest::write_note},
      {"read", &FailingCallsTest::read_note},
  };
  std::set<SystemCall> failed_calls;
  for (const Operation& operation : kOperations) {
    for (std::size_t number = 0; number < std::size(base::kSystemCallNames); ++number) {
      const auto call = static_cast<SystemCall>(number);
      if (call == SystemCall::kMunmap) continue;  // its failure is a leak by itself
      for (const int error : base::plausible_errors(call)) {
        for (unsigned nth = 1; try_failing(operation, call, nth, error); ++nth) {
          failed_calls.insert(call);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
  for (const SystemCall call :
       {SystemCall::kOpen, SystemCall::kRead, SystemCall::kPread, SystemCall::kWrite,
        SystemCall::kFtruncate, SystemCall::kFallocate, SystemCall::kMmap, SystemCall::kRename,
        SystemCall::kFstat, SystemCall::kLstat, SystemCall::kFlock, SystemCall::kFchmod,
        SystemCall::kFcntl, SystemCall::kMemfd, SystemCall::kOpendir}) {
    EXPECT_TRUE(failed_calls.contains(call)) << base::system_call_name(call);
  }
}

}  // namespace
}  // namespace everywatt::recorder
