// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "read/view/view_fixture.h"
#include "serve/exporter/exporter.h"

namespace everywatt::exporter {

using view::kMs;
using view::kSecond;

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
inline constexpr std::int64_t kNow = 1000 * kSecond + 50 * kMs;

enum class Gpm { kOffered, kNotSupported };

// GPU `index` as a sampler would have written it just before kNow.
inline void add_busy_gpu(view::Machine& machine, unsigned index, Gpm gpm = Gpm::kOffered) {
  using catalog::Lane;
  using catalog::MetricId;
  using catalog::Row;
  const std::int64_t time_ns = 1000 * kSecond;
  machine.add_gpu(index, Lane::kOnce, time_ns, [&](Row& row) {
    row.set_text(MetricId::gpu_name, gpm == Gpm::kOffered ? "NVIDIA H200" : "NVIDIA A100");
    row.set_text(MetricId::gpu_uuid, "GPU-0000000" + std::to_string(index));
    row.set_text(MetricId::gpu_pci_address, "00000000:0" + std::to_string(6 + index) + ":00.0");
    row.set_text(MetricId::gpu_driver_version, "580.159.04");
    row.set(MetricId::gpu_minor_number, std::uint64_t{index});
    row.set(MetricId::gpu_memory_total_bytes, 143'771 * kMiB);
    row.set(MetricId::gpu_power_limit_max_watts, 700.0);
    row.set(MetricId::gpu_gpm_supported, std::uint64_t{gpm == Gpm::kOffered ? 1u : 0u});
  });
  machine.add_gpu(index, Lane::kGauge, time_ns, [](Row& row) {
    row.set(MetricId::gpu_utilization_ratio, 0.97);
    row.set(MetricId::gpu_memory_controller_active_ratio, 0.29);
    row.set(MetricId::gpu_memory_used_bytes, 41'000 * kMiB + 1);
    row.set(MetricId::gpu_memory_free_bytes, 102'000 * kMiB);
    row.set(MetricId::gpu_memory_reserved_bytes, 771 * kMiB - 1);
    row.set(MetricId::gpu_power_watts, 678.123);
    row.set(MetricId::gpu_temperature_celsius, 57.0);
    row.set(MetricId::gpu_sm_clock_hertz, 1980e6);
    row.set(MetricId::gpu_performance_state, std::uint64_t{0});
    row.set(MetricId::gpu_clock_event_reasons_mask, std::uint64_t{0x4004});
    row.set_absent(MetricId::gpu_jpeg_utilization_ratio, catalog::State::kNotSupported);
    row.set_absent(MetricId::gpu_memory_temperature_celsius, catalog::State::kInvalid);
    row.set(MetricId::gpu_power_violation_seconds_total, 12.000000345);
  });
  machine.add_gpu(index, Lane::kGpm, time_ns, [&](Row& row) {
    if (gpm == Gpm::kNotSupported) return row.set_all_absent(catalog::State::kNotSupported);
    row.set(MetricId::gpu_sm_active_ratio, 0.9712);
    row.set(MetricId::gpu_graphics_engine_active_ratio, 0.9934);
    row.set(MetricId::gpu_pcie_receive_bytes_per_second, 7e9);
    row.set(MetricId::gpu_nvlink_link_transmit_bytes_per_second, 1.5e9, 3);
  });
  machine.add_gpu(index, Lane::kSlow, time_ns, [](Row& row) {
    row.set(MetricId::gpu_energy_joules_total, 1234567.891);
    row.set(MetricId::gpu_ecc_corrected_volatile_errors_total, std::uint64_t{3});
    row.set(MetricId::gpu_ecc_uncorrected_volatile_errors_total, std::uint64_t{0});
    row.set(MetricId::gpu_ecc_location_corrected_volatile_errors_total, std::uint64_t{3}, 2);
    row.set(MetricId::gpu_nvlink_replay_errors_total, std::uint64_t{5}, 0);
    row.set(MetricId::gpu_nvlink_replay_errors_total, std::uint64_t{6}, 1);
    row.set(MetricId::gpu_pcie_replays_total, std::uint64_t{9'007'199'254'740'993});
    row.set(MetricId::gpu_fan_speed_ratio, 0.3, 0);
    row.set(MetricId::gpu_fan_speed_ratio, 0.4, 1);
  });
  machine.add_gpu(index, Lane::kTotals, time_ns, [](Row& row) {
    for (unsigned band = 0; band < 13; ++band) {
      row.set(MetricId::gpu_utilization_sampled_ratio_bucket, std::uint64_t{band}, band);
    }
    row.set(MetricId::gpu_utilization_sampled_ratio_sum, 55.5);
    for (unsigned band = 0; band < 11; ++band) {
      row.set(MetricId::gpu_power_sampled_watts_bucket, std::uint64_t{10}, band);
    }
    row.set(MetricId::gpu_power_sampled_watts_sum, 40000.25);
    row.set(MetricId::gpu_clock_event_seconds_total, 1.5, 2);
    row.set(MetricId::gpu_clock_event_seconds_total, 0.0, 3);
    row.set(MetricId::gpu_clock_event_seconds_total, 0.0, 12);
    row.set(MetricId::gpu_busy_seconds_total, 99.5);
  });
  machine.add_gpu(index, Lane::kFaults, time_ns, [](Row& row) {
    row.set(MetricId::gpu_last_xid, std::uint64_t{31});
    row.set(MetricId::gpu_xid_errors_total, std::uint64_t{2}, 31);
    row.set(MetricId::gpu_xid_errors_total, std::uint64_t{0}, 79);
  });
  for (std::uint64_t i = 0; i < 3; ++i) {
    machine.add_gpu(index, Lane::kProcess, time_ns, [&](Row& row) {
      row.set(MetricId::process_index, i);
      row.set(MetricId::process_count, std::uint64_t{3});
      row.set(MetricId::process_pid, 1000 + i);
      row.set(MetricId::process_memory_bytes, (i + 1) * 1000 * kMiB);
      if (i == 2) row.set(MetricId::process_sm_ratio, 0.93);
    });
  }
}

// The machine around it and Everywatt itself.
inline void add_host(view::Machine& machine) {
  using catalog::Lane;
  using catalog::MetricId;
  using catalog::Row;
  using catalog::Scope;
  const std::int64_t time_ns = 1000 * kSecond;
  const std::uint32_t node = machine.first(Scope::kNode);
  machine.add(node, Scope::kNode, Lane::kOnce, time_ns,
              [](Row& row) { row.set_text(MetricId::host_name, "node-7"); });
  machine.add(node, Scope::kNode, Lane::kHost, time_ns, [](Row& row) {
    row.set(MetricId::host_cpu_user_seconds_total, 1000.25);
    row.set(MetricId::host_cpu_idle_seconds_total, 9000.5);
    row.set(MetricId::host_memory_total_bytes, std::uint64_t{1} << 40);
  });
  const std::uint32_t disk = machine.first(Scope::kDisk);
  machine.file().set_status(disk, recorder::DeviceStatus::kOk, kSecond);
  machine.add(disk, Scope::kDisk, Lane::kOnce, time_ns,
              [](Row& row) { row.set_text(MetricId::host_disk_name, "nvme0n1"); });
  machine.add(disk, Scope::kDisk, Lane::kHost, time_ns,
              [](Row& row) { row.set(MetricId::host_disk_read_bytes_total, std::uint64_t{4096}); });
  const std::uint32_t sampler = machine.file().slots(Scope::kPart)[1];
  machine.file().device(sampler).index.store(1);
  machine.add(sampler, Scope::kPart, Lane::kPart, time_ns, [](Row& row) {
    row.set(MetricId::everywatt_process_cpu_seconds_total, 0.75);
    row.set(MetricId::everywatt_process_resident_bytes, 12 * kMiB);
  });
  machine.add(sampler, Scope::kPart, Lane::kSampling, time_ns, [](Row& row) {
    row.set(MetricId::everywatt_ticks_total, std::uint64_t{10'000}, 0);
    row.set(MetricId::everywatt_driver_calls_total, std::uint64_t{170'000});
  });
}

inline std::string encode(const view::View& view, const Wish& wish, Options options = {},
                          Format format = Format::kText) {
  Encoder encoder(std::move(options));
  std::string text;
  Exposition out(text, format);
  encoder.encode(view, wish, out);
  out.end();
  return text;
}
inline std::string encode(const view::View& view, NameSets names, Options options = {}) {
  return encode(view, Wish{.names = names}, std::move(options));
}

}  // namespace everywatt::exporter
