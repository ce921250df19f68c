// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace everywatt::sim {

// A folder of small traces written by a test, removed at its end.
class FakeTraceFiles {
 public:
  FakeTraceFiles() : folder_(testing::TempDir() + "everywatt_traces_" + unique_name()) {
    std::filesystem::create_directories(folder_);
  }
  ~FakeTraceFiles() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  FakeTraceFiles(const FakeTraceFiles&) = delete;
  FakeTraceFiles& operator=(const FakeTraceFiles&) = delete;

  const std::string& folder() const { return folder_; }
  std::string stem(const std::string& name) const { return folder_ + "/" + name; }

  // Packs `text` into FOLDER/`file` and returns its path.
  std::string write(const std::string& file, const std::string& text) const {
    const std::string path = folder_ + "/" + file;
    gzFile packed = gzopen(path.c_str(), "wb");
    gzwrite(packed, text.data(), static_cast<unsigned>(text.size()));
    gzclose(packed);
    return path;
  }

  static constexpr const char* kGpuHeader =
      "t_ms,gract,smact,smocc,int,tensor,dfma,hmma,imma,dram,fp64,fp32,fp16,pcie_tx_mibs,"
      "pcie_rx_mibs,util_gpu,util_mem,fb_used_b,fb_reserved_b,bar1_used_b,power_mw,power_inst_mw,"
      "energy_mj,temp_c,mem_temp_c,sm_mhz,mem_mhz,reasons,pstate,enc,dec,viol_power_ns,"
      "viol_thermal_ns\n";

  // A row: GPM columns all `gpm` ("nan" in dram when there is no refresh), and a few gauges.
  struct Row {
    double t_ms = 0;
    std::string gpm = "nan";
    int util = 0;
    std::int64_t used = 0;
    std::int64_t energy_mj = 0;
  };
  static std::string gpu_row(const Row& row) {
    const std::string value = row.gpm == "nan" ? "0.00" : row.gpm;
    std::string text = std::to_string(row.t_ms);
    for (int i = 0; i < 14; ++i)
      text += "," + (i == 8 ? row.gpm : value);
    text += "," + std::to_string(row.util) + ",0," + std::to_string(row.used) + ",1000,0,100,200," +
            std::to_string(row.energy_mj) + ",40,41,1980,3201,0x4,0,0,0,0,0\n";
    return text;
  }
  void write_gpu(const std::string& name, const std::vector<Row>& rows) const {
    std::string text = kGpuHeader;
    for (const Row& row : rows)
      text += gpu_row(row);
    write(name + ".gpu.csv.gz", text);
  }
  void write_processes(const std::string& name, const std::string& rows) const {
    write(name + ".processes.csv.gz",
          "t_ms,pid,used_mem_b,sm_util,mem_util,enc_util,dec_util\n" + rows);
  }
  void write_host(const std::string& name, const std::string& rows) const {
    write(name + ".host.csv.gz",
          "t_ms,cpu_user,cpu_sys,cpu_iowait,cpu_idle,ncpu,main_state,main_cpu_pct,children,"
          "children_cpu_pct,threads,rss_kb,read_bytes,write_bytes\n" +
              rows);
  }

 private:
  static std::string unique_name() {
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string(test->test_suite_name()) + "_" + test->name();
  }

  const std::string folder_;
};

}  // namespace everywatt::sim
