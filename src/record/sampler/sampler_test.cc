// SPDX-License-Identifier: Apache-2.0
#include "record/sampler/sampler.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "device/nvml/sim_fixture.h"
#include "record/recorder/reader.h"

namespace everywatt::sampler {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;

class SamplerTest : public nvml::SimFixture {
 protected:
  Options options(unsigned gpus) {
    Options options;
    options.library = library_options();
    options.clock = [this] { return now_ns(); };
    options.wall_clock = [this] { return wall_ns(); };
    for (unsigned i = 0; i < gpus; ++i) {
      options.pci_addresses.push_back(address(i));
    }
    return options;
  }
  static std::string address(unsigned gpu);

  std::unique_ptr<recorder::File> make_file(unsigned gpus) {
    auto file = recorder::File::create_anonymous(
        recorder::live_layout({.gpus = gpus, .spare_gpus = 0, .migs_per_gpu = 0, .disks = 0,
                               .interfaces = 0, .infiniband_ports = 0}));
    EXPECT_TRUE(file) << file.error().message;
    return std::move(*file);
  }
};

std::string SamplerTest::address(unsigned gpu) {
  char text[32];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", 1 + gpu);
  return text;
}

std::unique_ptr<recorder::Reader> reader_of(const recorder::File& file) {
  auto reader = recorder::Reader::adopt(base::UniqueFd(::dup(file.fd())), "test");
  EXPECT_TRUE(reader) << reader.error().message;
  return std::move(*reader);
}

TEST_F(SamplerTest, DumpsOnce) {
  play(device("gemm") + device("fed"));
  step_to_ms(20000);
  auto file = make_file(2);
  const base::Status status = sample_once(options(2), *file);
  ASSERT_TRUE(status) << status.error().message;
  auto reader = reader_of(*file);
  for (const recorder::Device& d : reader->devices()) {
    if (d.scope != Scope::kGpu) continue;
    for (unsigned l = 0; l < catalog::kLaneCount; ++l) {
      auto ring = reader->find_ring(d.slot, static_cast<Lane>(l));
      if (!ring) continue;
      const auto n = reader->published(*ring);
      std::printf("gpu slot %u status %d lane %s rows %lu\n", d.slot, int(d.status),
                  std::string(catalog::lane_name(static_cast<Lane>(l))).c_str(), n);
      if (n == 0) continue;
      Row row(Scope::kGpu, static_cast<Lane>(l));
      reader->read(*ring, n - 1, row);
      for (MetricId id : catalog::schema(Scope::kGpu, static_cast<Lane>(l)).metrics) {
        const auto& m = catalog::metric(id);
        for (unsigned i = 0; i < std::min<unsigned>(m.instances, 2); ++i) {
          std::string v = m.type == catalog::Type::kText
                              ? std::string(row.text(id, i))
                              : std::to_string(row.reading(id, i).is_ok() ? catalog::as_double(id, row.reading(id, i)) : -1);
          std::printf("   %s[%u] %s %s\n", std::string(m.name).c_str(), i,
                      std::string(catalog::state_name(row.state(id, i))).c_str(), v.c_str());
        }
      }
    }
  }
}

}  // namespace
}  // namespace everywatt::sampler
