// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <optional>

#include "read/view/processes.h"

namespace everywatt::view {
namespace {

using catalog::Lane;
using catalog::MetricId;
using catalog::Row;

// A ring has a damaged row where a writer died; a forged one may have nothing else, 2^28 times.
constexpr std::size_t kBadRows = 4096;

std::uint64_t number(const Row& row, MetricId id) {
  const catalog::Reading reading = row.reading(id);
  return reading.is_ok() ? reading.u64() : 0;
}

Identity parse_identity(const Row& row) {
  Identity identity;
  identity.key = number(row, MetricId::identity_key);
  identity.pid = number(row, MetricId::identity_pid);
  identity.parent_pid = number(row, MetricId::identity_parent_pid);
  if (const auto start = row.reading(MetricId::identity_start_seconds); start.is_ok()) {
    identity.start_seconds = start.f64();
  }
  if (const auto uid = row.reading(MetricId::identity_uid); uid.is_ok()) identity.uid = uid.u64();
  identity.user = row.text(MetricId::identity_user);
  identity.command = row.text(MetricId::identity_command);
  identity.cgroup = row.text(MetricId::identity_cgroup);
  identity.container = row.text(MetricId::identity_container);
  identity.runtime = row.text(MetricId::identity_runtime);
  identity.pod_uid = row.text(MetricId::identity_pod_uid);
  identity.slurm_job = row.text(MetricId::identity_slurm_job);
  identity.unit = row.text(MetricId::identity_unit);
  return identity;
}

// The newest identity at or before `time_ns` whose `column` holds `wanted`. Looks at one cell a
// row: a few thousand rows take some hundred microseconds.
std::optional<Identity> find(const View& view, MetricId column, std::uint64_t wanted,
                             std::int64_t time_ns) {
  const recorder::Reader* reader = view.identities();
  if (reader == nullptr || wanted == 0) return std::nullopt;
  Row row(catalog::Scope::kNode, Lane::kIdentity);
  recorder::Reader::Cell cell;
  for (std::uint32_t ring = 0; ring < reader->ring_count(); ++ring) {
    if (reader->ring(ring).lane != Lane::kIdentity) continue;
    const std::uint64_t oldest = reader->oldest(ring);
    std::size_t bad_rows = 0;
    for (std::uint64_t end = reader->published(ring); end > oldest && bad_rows < kBadRows;) {
      --end;
      const recorder::RowState state = reader->read_cell(ring, end, column, 0, cell);
      // Every row has both columns.
      if (state != recorder::RowState::kOk || !cell.reading.is_ok()) {
        ++bad_rows;
        continue;
      }
      if (cell.reading.u64() != wanted || cell.time_ns > time_ns) continue;
      if (reader->read(ring, end, row) == recorder::RowState::kOk) return parse_identity(row);
      ++bad_rows;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Identity> find_identity(const View& view, std::uint64_t key) {
  // A key is never used again, so its time does not matter.
  return find(view, MetricId::identity_key, key, std::numeric_limits<std::int64_t>::max());
}

std::optional<Identity> find_identity_of_pid(const View& view, std::uint64_t pid,
                                             std::int64_t time_ns) {
  return find(view, MetricId::identity_pid, pid, time_ns);
}

}  // namespace everywatt::view
