// SPDX-License-Identifier: Apache-2.0
#include "device/sim/host_image.h"

#include <gmock/gmock.h>

#include "base/text.h"
#include "device/sim/fake_trace_files.h"
#include "device/sim/gpu.h"

namespace everywatt::sim {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kMs = 1'000'000;
constexpr BootTimes kBoot = {.uptime_ns = 100'000 * kMs, .wall_ns = 1'800'000'000'000 * kMs};

// A job of 2 CPUs: the main process at 100 %, two workers at 50 % together, state R, 1000 B written
// a row.
class HostImageTest : public testing::Test {
 protected:
  HostImageTest() {
    files_.write_gpu("t", {{.t_ms = 0, .used = 500}, {.t_ms = 8'000, .used = 500}});
    files_.write_processes("t", "0,77,400,1,1,0,0\n1000,77,400,1,1,0,0\n2000,77,400,1,1,0,0\n");
    std::string rows;
    for (int i = 1; i <= 40; ++i) {
      rows += std::to_string(i * 100) + ",50,10,0,40,2,R,100,2,50,6,3000," +
              std::to_string(i * 10) + "," + std::to_string(i * 1000) + "\n";
    }
    files_.write_host("t", rows);
  }

  PlayedHost host(Loop loop = {0, 1'000 * kMs, 3'000 * kMs}) {
    Scenario scenario;
    scenario.devices.push_back({.trace = files_.stem("t"), .loop = loop});
    auto host = PlayedHost::open(scenario);
    EXPECT_TRUE(host) << host.error().message;
    return std::move(*host);
  }
  static std::string content(const HostImage& image, const std::string& path) {
    const auto file = image.find(path);
    return file == image.end() ? "no " + path : file->second.content;
  }
  static std::uint64_t cell(const std::string& text, std::size_t place) {
    return base::parse_u64(base::split_words(text).at(place)).value_or(~0ull);
  }

  FakeTraceFiles files_;
};

TEST_F(HostImageTest, TheProcessHasItsCpuTimeOverTheLaps) {
  const PlayedHost host = this->host();
  // 1 s at 100 %: 100 ticks, of which 8 % count as system time.
  const std::string early = content(host.image(1'000 * kMs, kBoot), "proc/10000/stat");
  EXPECT_EQ(cell(early, 13), 92u);
  EXPECT_EQ(cell(early, 14), 8u);
  const std::string later = content(host.image(11'000 * kMs, kBoot), "proc/10000/stat");
  EXPECT_EQ(cell(later, 13), 1'012u);
  EXPECT_EQ(cell(later, 14), 88u);
}

TEST_F(HostImageTest, WorkersAreChildrenWithTheirShare) {
  const HostImage image = host().image(2'000 * kMs, kBoot);
  EXPECT_EQ(content(image, "proc/10000/task/10000/children"), "10512 10513 ");
  const std::string worker = content(image, "proc/10512/stat");
  EXPECT_EQ(cell(worker, 3), 10'000u);
  EXPECT_EQ(cell(worker, 13) + cell(worker, 14), 50u);
  EXPECT_THAT(content(image, "proc/10512/status"), HasSubstr("VmRSS:\t1000 kB\n"));
  EXPECT_THAT(content(image, "proc/10000/status"), HasSubstr("Threads:\t4\n"));
}

TEST_F(HostImageTest, WrittenBytesGoOnOverTheSeam) {
  const PlayedHost host = this->host();
  EXPECT_THAT(content(host.image(2'999 * kMs, kBoot), "proc/10000/io"),
              HasSubstr("\nwrite_bytes: 29000\n"));
  EXPECT_THAT(content(host.image(3'000 * kMs, kBoot), "proc/10000/io"),
              HasSubstr("\nwrite_bytes: 29000\n"));
  EXPECT_THAT(content(host.image(3'100 * kMs, kBoot), "proc/10000/io"),
              HasSubstr("\nwrite_bytes: 30000\n"));
}

TEST_F(HostImageTest, TheMachineHasWhatItsJobsUse) {
  const HostImage image = host().image(2'000 * kMs, kBoot);
  // 2 s on 2 CPUs; before the play 100 s of idleness on each.
  EXPECT_THAT(content(image, "proc/stat"),
              StartsWith("cpu  200 0 40 20160 0 0 0 0 0 0\ncpu0 100 0 20 10080 0"));
  EXPECT_THAT(content(image, "proc/stat"), HasSubstr("\nbtime 1799999900\n"));
  EXPECT_EQ(content(image, "proc/uptime"), "102.00 204.00\n");
  EXPECT_EQ(content(image, "sys/devices/system/cpu/online"), "0-1\n");
  EXPECT_THAT(content(image, "proc/diskstats"), HasSubstr(" nvme0n1 "));
}

TEST_F(HostImageTest, AfterTheRecordedRowsTheProcessIsGoneAndTheMachineIdle) {
  const PlayedHost host = this->host({0, 0, 8'000 * kMs});
  const HostImage before = host.image(4'000 * kMs, kBoot);
  const HostImage after = host.image(6'000 * kMs, kBoot);
  EXPECT_TRUE(before.contains("proc/10000/stat"));
  EXPECT_FALSE(after.contains("proc/10000/stat"));
  EXPECT_EQ(cell(content(after, "proc/stat"), 1), cell(content(before, "proc/stat"), 1));
  EXPECT_EQ(cell(content(after, "proc/stat"), 4) - cell(content(before, "proc/stat"), 4), 400u);
}

TEST_F(HostImageTest, AProcessOfTheNextLapIsNewInPidStartAndCpuTime) {
  const PlayedHost host = this->host({0, 0, 8'000 * kMs});
  const HostImage image = host.image(9'000 * kMs, kBoot);
  EXPECT_FALSE(image.contains("proc/10000/stat"));
  const std::string text = content(image, "proc/10064/stat");
  EXPECT_EQ(cell(text, 13) + cell(text, 14), 100u);
  EXPECT_EQ(cell(text, 21), 10'800u);  // 108 s after boot
}

TEST_F(HostImageTest, AFurtherGpuProcessIsThereWithoutARecordedHost) {
  files_.write_processes("t", "0,77,400,1,1,0,0\n0,78,50,1,1,0,0\n");
  const HostImage image = host().image(500 * kMs, kBoot);
  EXPECT_THAT(content(image, "proc/10001/stat"), StartsWith("10001 (python3) S "));
}

TEST_F(HostImageTest, ATraceWithoutHostFileIsAnIdleMachine) {
  std::filesystem::remove(files_.stem("t") + ".host.csv.gz");
  const HostImage image = host().image(1'000 * kMs, kBoot);
  EXPECT_THAT(content(image, "proc/stat"), StartsWith("cpu  0 0 0 161600 0"));
}

TEST_F(HostImageTest, AWrongHostRowIsNamed) {
  files_.write_host("t", "100,50,10,0,40,2,R,100,2,50,6,x,0,0\n");
  const auto trace = read_host_trace(files_.stem("t"), 0);
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message,
              EndsWith("t.host.csv.gz:2: rss_kb is not a number that it can be"));
}

// A line a CPU and a folder a child: a damaged number must not fill the memory and the disk.
TEST_F(HostImageTest, NumbersThatNoMachineHasAreRefused) {
  const auto error_of = [&](const std::string& row) {
    files_.write_host("t", row);
    const auto trace = read_host_trace(files_.stem("t"), 0);
    return trace ? "no error" : trace.error().message;
  };
  EXPECT_EQ(error_of("100,50,10,0,40,2,R,100,2,50,6,1,0,0\n"), "no error");
  for (const char* cpus : {"0", "-1", "4000000000", "1e300"}) {
    EXPECT_THAT(error_of("100,50,10,0,40," + std::string(cpus) + ",R,100,2,50,6,1,0,0\n"),
                EndsWith(":2: ncpu is not a number that it can be"));
  }
  EXPECT_THAT(error_of("100,50,10,0,40,2,R,100,1000000000,50,6,1,0,0\n"),
              EndsWith(":2: children is not a number that it can be"));
  EXPECT_THAT(error_of("100,50,10,0,40,2,R,100,2,50,6,1e300,0,0\n"),
              EndsWith(":2: rss_kb is not a number that it can be"));
  EXPECT_THAT(error_of("100,50,10,0,40,2,\x01,100,2,50,6,1,0,0\n"),
              EndsWith(":2: main_state is not one letter"));
}

}  // namespace
}  // namespace everywatt::sim
