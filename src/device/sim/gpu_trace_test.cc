// SPDX-License-Identifier: Apache-2.0
#include "device/sim/gpu_trace.h"

#include <gmock/gmock.h>

#include <fstream>

#include "device/sim/fake_trace_files.h"
#include "device/trace/csv.h"

namespace everywatt::sim {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr std::int64_t kMs = 1'000'000;

class GpuTraceTest : public testing::Test {
 protected:
  std::string error_of_gpu(const std::string& text) {
    files_.write("t.gpu.csv.gz", text);
    const auto trace = read_gpu_trace(files_.stem("t"));
    return trace ? "no error" : trace.error().message;
  }
  std::string error_of_processes(const std::string& rows) {
    files_.write_gpu("t", {{.t_ms = 0}});
    files_.write_processes("t", rows);
    const auto trace = read_gpu_trace(files_.stem("t"));
    return trace ? "no error" : trace.error().message;
  }

  FakeTraceFiles files_;
};

TEST_F(GpuTraceTest, KeepsTheGaugesOfEachRow) {
  files_.write_gpu("t",
                   {{.t_ms = 10.1, .util = 3}, {.t_ms = 20.1, .util = 99, .used = 7'000'000'000}});
  const auto trace = read_gpu_trace(files_.stem("t"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->columns[index_of(Column::kUtilGpu)].at(15 * kMs), 3);
  EXPECT_EQ(trace->columns[index_of(Column::kUtilGpu)].at(20'100'000), 99);
  EXPECT_EQ(trace->columns[index_of(Column::kFbUsed)].at(21 * kMs), 7'000'000'000);
  EXPECT_EQ(trace->columns[index_of(Column::kReasons)].at(21 * kMs), 4);
  EXPECT_EQ(trace->last_ns, 20'100'000);
}

TEST_F(GpuTraceTest, TakesRowsWithoutNanInDramForRefreshes) {
  files_.write_gpu("t", {{.t_ms = 10}, {.t_ms = 20, .gpm = "97.13"}, {.t_ms = 30}});
  const auto trace = read_gpu_trace(files_.stem("t"));
  ASSERT_EQ(trace->gpm.size(), 1u);
  EXPECT_EQ(trace->gpm[0].at_us, 20'000u);
  EXPECT_EQ(gpm_value(trace->gpm[0].means[0]), 97.13);
}

TEST_F(GpuTraceTest, GivesBackTwoDecimalsExactlyAlsoForLargeRates) {
  for (const double value : {0.01, 9.99, 97.13, 1234.56, 9053.9, 27000.47}) {
    EXPECT_EQ(gpm_value(static_cast<float>(value)), value);
  }
}

TEST_F(GpuTraceTest, AGpuThatNobodyUsedNeedsNoProcessFile) {
  files_.write_gpu("t", {{.t_ms = 0}});
  const auto trace = read_gpu_trace(files_.stem("t"));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->listing_at(0), nullptr);
}

TEST_F(GpuTraceTest, AListHoldsUntilTheNextAndTheLastForASecond) {
  files_.write_gpu("t", {{.t_ms = 0, .used = 1000}});
  files_.write_processes("t",
                         "1000,77,600,5,1,0,0\n2000.1,77,700,6,1,0,0\n2000.1,12,100,-1,-1,-1,-1\n");
  const auto trace = read_gpu_trace(files_.stem("t"));
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->listing_at(999 * kMs), nullptr);
  ASSERT_NE(trace->listing_at(2000 * kMs), nullptr);
  EXPECT_EQ(trace->listing_at(2000 * kMs)->processes[0].memory_bytes, 600u);
  const ProcessListing* last = trace->listing_at(2'500 * kMs);
  ASSERT_NE(last, nullptr);
  ASSERT_EQ(last->processes.size(), 2u);
  EXPECT_EQ(last->processes[0].ordinal, 0u);
  EXPECT_EQ(last->processes[1].ordinal, 1u);
  EXPECT_EQ(last->processes[1].sm_percent, -1);
  EXPECT_EQ(trace->listing_at(3'001 * kMs), nullptr);
}

TEST_F(GpuTraceTest, AListEndsWhenTheMemoryOfItsProcessIsFree) {
  files_.write_gpu("t", {{.t_ms = 0, .used = 1000}, {.t_ms = 1300, .used = 100}});
  files_.write_processes("t", "1000,77,900,5,1,0,0\n");
  const auto trace = read_gpu_trace(files_.stem("t"));
  EXPECT_NE(trace->listing_at(1299 * kMs), nullptr);
  EXPECT_EQ(trace->listing_at(1300 * kMs), nullptr);
}

TEST_F(GpuTraceTest, NamesFileAndLineOfWhatIsWrong) {
  const std::string header = FakeTraceFiles::kGpuHeader;
  const std::string row = FakeTraceFiles::gpu_row({.t_ms = 5});
  EXPECT_THAT(error_of_gpu(""), EndsWith("t.gpu.csv.gz:1: no header line"));
  EXPECT_THAT(error_of_gpu(header), EndsWith("t.gpu.csv.gz:2: no rows"));
  EXPECT_THAT(error_of_gpu("t_ms,gract\n1,2\n"), EndsWith("t.gpu.csv.gz:1: no column 'util_gpu'"));
  EXPECT_THAT(error_of_gpu(header + row + "6,7\n"),
              EndsWith("t.gpu.csv.gz:3: 2 cells, the header has 33"));
  EXPECT_THAT(error_of_gpu(header + row + FakeTraceFiles::gpu_row({.t_ms = 4})),
              EndsWith("t.gpu.csv.gz:3: t_ms falls"));
  EXPECT_THAT(error_of_gpu(header + FakeTraceFiles::gpu_row({.t_ms = 4e6})),
              EndsWith(":2: t_ms is not a time within an hour"));
  EXPECT_THAT(error_of_gpu(header + FakeTraceFiles::gpu_row({.t_ms = 4, .gpm = "x"})),
              EndsWith(":2: gract is not a number"));
}

TEST_F(GpuTraceTest, NamesFileAndLineOfAWrongProcess) {
  EXPECT_THAT(error_of_processes("5,x,0,0,0,0,0\n"),
              EndsWith("t.processes.csv.gz:2: pid is not a number that it can be"));
  EXPECT_THAT(error_of_processes("5,1,-1,0,0,0,0\n"), HasSubstr(":2: used_mem_b"));
  EXPECT_THAT(error_of_processes("5,1,1,-2,0,0,0\n"), HasSubstr(":2: sm_util"));
  EXPECT_THAT(error_of_processes("5,1,1,0,0,0,0\n4,1,1,0,0,0,0\n"), EndsWith(":3: t_ms falls"));
}

TEST_F(GpuTraceTest, AMissingFileIsNotFound) {
  const auto trace = read_gpu_trace(files_.stem("none"));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, base::Code::kNotFound);
}

TEST_F(GpuTraceTest, ACutFileIsDamaged) {
  std::string rows;
  for (int i = 0; i < 3000; ++i)
    rows += FakeTraceFiles::gpu_row({.t_ms = i + 0.1, .util = i % 101});
  const std::string path = files_.write("t.gpu.csv.gz", FakeTraceFiles::kGpuHeader + rows);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto trace = read_gpu_trace(files_.stem("t"));
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, base::Code::kCorrupt);
  EXPECT_THAT(trace.error().message, HasSubstr("t.gpu.csv.gz: damaged gzip"));
}

TEST_F(GpuTraceTest, PlainTextIsReadToo) {
  std::ofstream(files_.folder() + "/plain.csv") << "a,b\n1,2\n\n3,4\n";
  const auto csv = trace::Csv::read(files_.folder() + "/plain.csv");
  ASSERT_TRUE(csv);
  EXPECT_EQ(csv->rows(), 2u);
  EXPECT_EQ(csv->cell(1, *csv->column("b")), "4");
}

}  // namespace
}  // namespace everywatt::sim
