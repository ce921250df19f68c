// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/nvml/sim_fixture.h"
#include "record/recorder/reader.h"
#include "record/sampler/gpu_watch.h"

namespace everywatt::sampler {

// A recorder, the simulated driver, and GPU watches that the test moves through played time.
class LanesFixture : public nvml::SimFixture {
 protected:
  // Plays `scenario` with that many GPUs, and watches them.
  void begin(const std::string& scenario, unsigned gpus) {
    play(scenario);
    options_.library = library_options();
    options_.clock = [this] { return now_ns(); };
    options_.wall_clock = [this] { return wall_ns(); };
    make_file(gpus);
    restart(gpus);
  }

  // The driver's library that restart() attaches to.
  virtual std::unique_ptr<nvml::Library> make_library() { return open_library(); }

  void make_file(unsigned gpus) {
    auto file = recorder::File::create_anonymous(recorder::live_layout({.gpus = gpus,
                                                                        .spare_gpus = 0,
                                                                        .migs_per_gpu = 2,
                                                                        .disks = 0,
                                                                        .interfaces = 0,
                                                                        .infiniband_ports = 0}));
    ASSERT_TRUE(file) << file.error().message;
    file_ = std::move(*file);
    auto reader = recorder::Reader::adopt(base::UniqueFd(::dup(file_->fd())), "test");
    ASSERT_TRUE(reader) << reader.error().message;
    reader_ = std::move(*reader);
  }

  // Another process takes the sampler's place: new watches on the old rings.
  void restart(unsigned gpus) {
    stop();
    const std::uint32_t part = file_->slots(catalog::Scope::kPart)[1];
    events_.emplace(*file_->writer(part, catalog::Lane::kEvent), options_.clock,
                    options_.wall_clock);
    allowance_.emplace(options_.gpm_cpu_ratio, now_ns());
    tallies_.emplace();
    shared_.emplace(Shared{options_, *file_, *events_, *allowance_, *tallies_});
    library_ = make_library();
    ASSERT_NE(library_, nullptr);
    const std::vector<std::uint32_t> slots = file_->slots(catalog::Scope::kGpu);
    for (unsigned i = 0; i < gpus; ++i) {
      auto gpu =
          GpuWatch::open(*shared_, {.pci_address = address(i), .number = i, .slot = slots[i]});
      ASSERT_TRUE(gpu) << gpu.error().message;
      (*gpu)->attach(*library_, nullptr);
      gpus_.push_back(std::move(*gpu));
    }
  }
  void stop() {
    for (const auto& gpu : gpus_)
      gpu->detach();
    gpus_.clear();
    library_.reset();
  }
  ~LanesFixture() override { stop(); }

  static std::string address(unsigned gpu) { return fmt::format("0000:{:02x}:00.0", gpu + 1); }

  // Moves to each tick of 100 ms until then, and has all GPUs do what is due.
  void run_until_ms(double until_ms) {
    while (true) {
      for (const auto& gpu : gpus_)
        gpu->run_due();
      const double next_ms = static_cast<double>(now_ns() - kOriginNs) / 1e6 + 100;
      if (next_ms > until_ms) return;
      step_to_ms(next_ms);
    }
  }

  std::uint32_t slot(unsigned gpu) const { return file_->slots(catalog::Scope::kGpu)[gpu]; }

  std::uint64_t row_count(std::uint32_t slot, catalog::Lane lane) const {
    const auto ring = reader_->find_ring(slot, lane);
    return ring ? reader_->published(*ring) : 0;
  }
  // The row with that number; a negative one counts from the end.
  catalog::Row row(std::uint32_t slot, catalog::Lane lane, std::int64_t number = -1) const {
    const auto ring = reader_->find_ring(slot, lane);
    catalog::Row row(ring ? reader_->ring(*ring).scope : catalog::Scope::kGpu, lane);
    EXPECT_TRUE(ring);
    if (!ring) return row;
    const auto published = static_cast<std::int64_t>(reader_->published(*ring));
    const std::int64_t sequence = number < 0 ? published + number : number;
    EXPECT_EQ(reader_->read(*ring, static_cast<std::uint64_t>(sequence), row),
              recorder::RowState::kOk)
        << catalog::lane_name(lane) << " row " << sequence << " of " << published;
    return row;
  }
  // The newest row's reading that is not `not_read`.
  catalog::Reading latest(unsigned gpu, catalog::MetricId id, unsigned instance = 0) const {
    const catalog::Lane lane = catalog::metric(id).lane;
    for (auto i = static_cast<std::int64_t>(row_count(slot(gpu), lane)) - 1; i >= 0; --i) {
      const catalog::Reading reading = row(slot(gpu), lane, i).reading(id, instance);
      if (reading.state != catalog::State::kNotRead) return reading;
    }
    return {};
  }
  double value(unsigned gpu, catalog::MetricId id, unsigned instance = 0) const {
    const catalog::Reading reading = latest(gpu, id, instance);
    EXPECT_TRUE(reading.is_ok()) << catalog::metric(id).name << " is "
                                 << catalog::state_name(reading.state);
    return reading.is_ok() ? catalog::as_double(id, reading) : 0;
  }
  recorder::DeviceStatus status_of(unsigned gpu) const { return reader_->device(slot(gpu)).status; }

  // "xid 31 XID 31", one an event, oldest first.
  std::vector<std::string> event_lines() const {
    std::vector<std::string> lines;
    const std::uint32_t part = file_->slots(catalog::Scope::kPart)[1];
    const auto count = static_cast<std::int64_t>(row_count(part, catalog::Lane::kEvent));
    for (std::int64_t i = 0; i < count; ++i) {
      const catalog::Row event = row(part, catalog::Lane::kEvent, i);
      const auto kind =
          static_cast<catalog::EventKind>(event.reading(catalog::MetricId::event_kind).u64());
      lines.push_back(fmt::format("{} {} {}", catalog::event_kind_name(kind),
                                  event.reading(catalog::MetricId::event_code).u64(),
                                  event.text(catalog::MetricId::event_text)));
    }
    return lines;
  }

  Options options_;
  std::unique_ptr<recorder::File> file_;
  std::unique_ptr<recorder::Reader> reader_;
  std::optional<EventLog> events_;
  std::optional<CpuAllowance> allowance_;
  std::optional<TallyBook> tallies_;
  std::optional<Shared> shared_;
  std::unique_ptr<nvml::Library> library_;
  std::vector<std::unique_ptr<GpuWatch>> gpus_;
};

}  // namespace everywatt::sampler
