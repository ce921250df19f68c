// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/fuzz_target.h"
#include "device/sim/gpu_trace.h"
#include "device/sim/host_image.h"
#include "device/sim/host_trace.h"
#include "device/sim/scenario.h"

namespace everywatt::sim {
namespace {

// A folder that goes with the program.
class TraceFolder {
 public:
  TraceFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fuzz_trace.XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
  }
  ~TraceFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::string stem() const { return folder_ + "/t"; }
  // An absent part is an absent file.
  void write(const char* ending, base::FuzzInput& input) const {
    const std::string path = stem() + ending;
    std::error_code ignored;
    if (input.is_empty()) {
      std::filesystem::remove(path, ignored);
    } else {
      std::ofstream(path, std::ios::binary) << input.part();
    }
  }

 private:
  std::string folder_;
};

void judge(const GpuTrace& trace) {
  CHECK(trace.last_ns >= 0);
  for (const Steps& steps : trace.columns) {
    for (std::size_t i = 1; i < steps.size(); ++i)
      CHECK(steps.time_ns(i - 1) <= steps.time_ns(i));
  }
  for (const ProcessListing& listing : trace.listings)
    CHECK(listing.at_ns < listing.end_ns);
}

// The fake machine's files are text that its reader is to understand.
void judge(const HostImage& image) {
  for (const auto& [path, file] : image) {
    CHECK(!path.starts_with('/'));
    CHECK(path.find("/../") == std::string::npos && !path.starts_with("../"));
  }
}

}  // namespace

// The files of one trace in this order: GPU, processes, host, owner. Unpacked or not.
FUZZ_TARGET(trace) {
  static const TraceFolder folder;
  base::FuzzInput input(bytes);
  for (const char* ending : {".gpu.csv.gz", ".processes.csv.gz", ".host.csv.gz", ".owners.json"}) {
    folder.write(ending, input);
  }
  const auto gpu = read_gpu_trace(folder.stem());
  if (gpu) {
    judge(*gpu);
  } else {
    CHECK(gpu.error().message.find(folder.stem()) != std::string::npos);
  }
  const auto host = read_host_trace(folder.stem(), 10'000'000'000);
  CHECK(host || host.error().message.find(folder.stem()) != std::string::npos);
  if (!gpu || !host) return;
  Scenario scenario;
  scenario.devices.push_back({.trace = folder.stem()});
  const auto machine = PlayedHost::open(scenario);
  if (!machine) return;
  for (const std::int64_t played_ns : {std::int64_t{0}, std::int64_t{25'000'000'000}}) {
    judge(machine->image(played_ns, {.uptime_ns = 1'000'000'000, .wall_ns = 1'000'000'000}));
  }
}

}  // namespace everywatt::sim
