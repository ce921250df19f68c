// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "record/sampler/coverage.h"
#include "record/sampler/slow_changes.h"

namespace everywatt::sampler {
namespace {

using catalog::EventKind;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;
using catalog::State;
using testing::ElementsAre;

class ChangesTest : public testing::Test {
 protected:
  std::vector<std::string> changes() const {
    std::vector<std::string> lines;
    for (const Event& event : find_slow_changes(before_, now_, 5)) {
      EXPECT_EQ(event.device, 5u);
      lines.push_back(std::string(catalog::event_kind_name(event.kind)) + " " +
                      std::to_string(event.code) + " " + event.text);
    }
    return lines;
  }
  Row before_{Scope::kGpu, Lane::kSlow};
  Row now_{Scope::kGpu, Lane::kSlow};
};

TEST_F(ChangesTest, ErrorsAreTheirGrowth) {
  before_.set(MetricId::gpu_ecc_uncorrected_volatile_errors_total, std::uint64_t{2});
  now_.set(MetricId::gpu_ecc_uncorrected_volatile_errors_total, std::uint64_t{5});
  EXPECT_THAT(changes(), ElementsAre("ecc 3 3 more uncorrected memory errors"));
  std::swap(before_, now_);
  EXPECT_THAT(changes(), ElementsAre()) << "the driver was loaded anew";
}

// Issue P086: only the failure flag flips.
TEST_F(ChangesTest, RowThatCannotBeRemapped) {
  before_.set(MetricId::gpu_remapped_rows_failure, std::uint64_t{0});
  now_.set(MetricId::gpu_remapped_rows_failure, std::uint64_t{1});
  EXPECT_THAT(changes(), ElementsAre("row_remapped 1 a memory row could not be remapped"));
}

TEST_F(ChangesTest, LinksGoDownAndUp) {
  before_.set(MetricId::gpu_nvlink_state, std::uint64_t{1}, 3);
  now_.set(MetricId::gpu_nvlink_state, std::uint64_t{0}, 3);
  EXPECT_THAT(changes(), ElementsAre("link_down 3 NVLink 3 is down"));
  std::swap(before_, now_);
  EXPECT_THAT(changes(), ElementsAre("link_up 3 NVLink 3 is up"));
}

TEST_F(ChangesTest, PowerLimitSaysBothValues) {
  before_.set(MetricId::gpu_power_limit_enforced_watts, 700.0);
  now_.set(MetricId::gpu_power_limit_enforced_watts, 450.5);
  EXPECT_THAT(changes(), ElementsAre("power_limit_changed 450500 power limit 450.5 W, was 700 W"));
  EXPECT_TRUE(is_identity_stale(before_, now_));
}

TEST_F(ChangesTest, AbsentReadingSaysNothing) {
  before_.set(MetricId::gpu_ecc_uncorrected_volatile_errors_total, std::uint64_t{0});
  before_.set(MetricId::gpu_nvlink_state, std::uint64_t{1}, 3);
  now_.set_all_absent(State::kLost);
  EXPECT_THAT(changes(), ElementsAre());
  EXPECT_FALSE(is_identity_stale(before_, now_));
}

TEST_F(ChangesTest, LostMetricsHadAValueAndAreUnsupportedNow) {
  before_.set(MetricId::gpu_energy_joules_total, 5.0);
  before_.set(MetricId::gpu_ecc_mode, std::uint64_t{1});
  before_.set(MetricId::gpu_compute_mode, std::uint64_t{0});
  now_.set_absent(MetricId::gpu_energy_joules_total, State::kNotSupported);
  now_.set_absent(MetricId::gpu_ecc_mode, State::kFailed);
  const auto lost = find_lost_metrics(before_, now_);
  EXPECT_THAT(lost, ElementsAre(MetricId::gpu_energy_joules_total));
  EXPECT_EQ(name_metrics(lost), "gpu_energy_joules_total");
}

TEST_F(ChangesTest, ManyMetricsAreNamedInShort) {
  EXPECT_EQ(name_metrics({MetricId::gpu_ecc_mode, MetricId::gpu_compute_mode,
                          MetricId::gpu_persistence_mode, MetricId::gpu_mig_mode}),
            "gpu_ecc_mode, gpu_compute_mode, gpu_persistence_mode and 1 more");
}

TEST_F(ChangesTest, ValuesAreCounted) {
  EXPECT_EQ(count_values(now_), 0u);
  now_.set_all_absent(State::kFailed);  // 9, of which one bit is that of "ok"
  EXPECT_EQ(count_values(now_), 0u);
  now_.set(MetricId::gpu_ecc_mode, std::uint64_t{0});
  now_.set(MetricId::gpu_nvlink_state, std::uint64_t{1}, 17);
  EXPECT_EQ(count_values(now_), 2u);
}

}  // namespace
}  // namespace everywatt::sampler
