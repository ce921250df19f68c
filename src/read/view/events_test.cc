// SPDX-License-Identifier: Apache-2.0
#include "read/view/events.h"

#include <gtest/gtest.h>

#include "read/view/view_fixture.h"

namespace everywatt::view {
namespace {

using catalog::EventKind;
using catalog::EventSource;
using catalog::Lane;
using catalog::MetricId;
using catalog::Row;
using catalog::Scope;

void add_event(Machine& machine, unsigned part, std::int64_t time_ns, std::uint64_t kind,
               std::uint64_t code, std::uint64_t slot = 9) {
  const std::uint32_t ring_slot = machine.file().slots(Scope::kPart)[part];
  machine.add(ring_slot, Scope::kPart, Lane::kEvent, time_ns, [&](Row& row) {
    row.set(MetricId::event_kind, kind);
    row.set(MetricId::event_code, code);
    row.set(MetricId::event_device, slot);
    row.set(MetricId::event_source, std::uint64_t{1});
    row.set_text(MetricId::event_text, "it happened");
  });
}

constexpr auto kXid = static_cast<std::uint64_t>(EventKind::kXid);
constexpr auto kEcc = static_cast<std::uint64_t>(EventKind::kEcc);

std::vector<std::uint64_t> codes(const std::vector<Event>& events) {
  std::vector<std::uint64_t> found;
  for (const Event& event : events)
    found.push_back(event.code.value_or(0));
  return found;
}

TEST(Events, OfAllRingsAreInOrderOfTime) {
  Machine machine;
  add_event(machine, 1, 10 * kSecond, kXid, 31);
  add_event(machine, 2, 11 * kSecond, kXid, 32);
  add_event(machine, 1, 12 * kSecond, kEcc, 33);
  const auto events = read_events(*machine.view(), {});
  EXPECT_EQ(codes(events), (std::vector<std::uint64_t>{31, 32, 33}));
  EXPECT_EQ(events[0].kind, EventKind::kXid);
  EXPECT_EQ(events[0].kind_name(), "xid");
  EXPECT_EQ(events[0].source, EventSource::kNvml);
  EXPECT_EQ(events[0].slot, 9u);
  EXPECT_EQ(events[0].text, "it happened");
  EXPECT_EQ(events[0].pid, std::nullopt);
  EXPECT_NE(events[0].ring, events[1].ring);
}

TEST(Events, CanBeChosenByTimeDeviceAndKind) {
  Machine machine;
  add_event(machine, 1, 10 * kSecond, kXid, 1, 5);
  add_event(machine, 1, 11 * kSecond, kEcc, 2, 5);
  add_event(machine, 1, 12 * kSecond, kXid, 3, 6);
  const auto view = machine.view();
  using Codes = std::vector<std::uint64_t>;
  EXPECT_EQ(codes(read_events(*view, {.from_ns = 10 * kSecond})), (Codes{2, 3}));
  EXPECT_EQ(codes(read_events(*view, {.to_ns = 11 * kSecond})), (Codes{1, 2}));
  EXPECT_EQ(codes(read_events(*view, {.slot = 5})), (Codes{1, 2}));
  EXPECT_EQ(codes(read_events(*view, {.kinds = {EventKind::kXid}})), (Codes{1, 3}));
  EXPECT_EQ(codes(read_events(*view, {.limit = 2})), (Codes{2, 3}));
  EXPECT_EQ(codes(read_events(*machine.view(11 * kSecond), {})), (Codes{1, 2}));
}

TEST(Events, AKindOfANewerVersionIsNumbered) {
  Machine machine;
  add_event(machine, 1, 10 * kSecond, 777, 1);
  const auto events = read_events(*machine.view(), {});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, EventKind::kUnknown);
  EXPECT_EQ(events[0].kind_name(), "unknown(777)");
}

// A journal that the test writes mark by mark.
class Journal {
 public:
  explicit Journal(const std::optional<recorder::Origin>& origin = {}) {
    recorder::LayoutOptions layout = recorder::journal_layout();
    layout.origin = origin;
    file_ = recorder::File::create_anonymous(layout).value();
    writer_ = std::make_unique<recorder::Writer>(file_->writer(0, Lane::kEvent).value());
  }

  Row& add(std::int64_t time_ns, std::string_view text) {
    row_.clear();
    row_.time_ns = time_ns;
    row_.set(MetricId::annotation_wall_ns, time_ns + 5);
    row_.set(MetricId::annotation_uid, std::uint64_t{1000});
    row_.set_text(MetricId::annotation_text, text);
    return row_;
  }
  void write() { writer_->append(row_); }

  std::unique_ptr<recorder::Reader> reader() const {
    return recorder::Reader::adopt(base::UniqueFd(::fcntl(file_->fd(), F_DUPFD_CLOEXEC, 0)),
                                   "journal")
        .value();
  }

 private:
  std::unique_ptr<recorder::File> file_;
  std::unique_ptr<recorder::Writer> writer_;
  Row row_{Scope::kNode, Lane::kEvent};
};

TEST(Events, MarksOfTheJournalStandAmongThem) {
  Machine machine;
  add_event(machine, 1, 10 * kSecond, kXid, 31);
  add_event(machine, 1, 12 * kSecond, kXid, 32);
  Journal journal;
  Row& row = journal.add(11 * kSecond, "epoch done");
  row.set(MetricId::annotation_pid, std::uint64_t{77});
  row.set(MetricId::annotation_step, std::int64_t{-4});
  row.set(MetricId::annotation_epoch, 2.5);
  row.set_text(MetricId::annotation_phase, "train");
  row.set_text(MetricId::annotation_value_name, "loss", 0);
  row.set(MetricId::annotation_value, 0.25, 0);
  journal.write();
  journal.add(30 * kSecond, "not yet");
  journal.write();
  const auto view = machine.view(20 * kSecond);
  const std::uint64_t before = count_events(*view);
  view->use_journal(journal.reader());
  EXPECT_EQ(count_events(*view), before + 2);

  const auto events = read_events(*view, {});
  ASSERT_EQ(codes(events), (std::vector<std::uint64_t>{31, 0, 32}));
  const Event& mark = events[1];
  EXPECT_EQ(mark.kind, EventKind::kAnnotation);
  EXPECT_EQ(mark.kind_name(), "annotation");
  EXPECT_EQ(mark.source, EventSource::kUser);
  EXPECT_EQ(mark.wall_ns, 11 * kSecond + 5);
  EXPECT_EQ(mark.pid, 77u);
  EXPECT_EQ(mark.slot, std::nullopt);
  EXPECT_EQ(mark.text, "epoch done");
  EXPECT_GE(mark.ring, view->recorder().ring_count());
  ASSERT_TRUE(mark.annotation.has_value());
  EXPECT_EQ(mark.annotation->uid, 1000u);
  EXPECT_EQ(mark.annotation->step, -4);
  EXPECT_EQ(mark.annotation->epoch, 2.5);
  EXPECT_EQ(mark.annotation->phase, "train");
  using Values = std::vector<std::pair<std::string, double>>;
  EXPECT_EQ(mark.annotation->values, (Values{{"loss", 0.25}}));
  EXPECT_FALSE(events[0].annotation.has_value());

  EXPECT_EQ(read_events(*view, {.kinds = {EventKind::kAnnotation}}).size(), 1u);
  EXPECT_TRUE(read_events(*view, {.slot = 5}).empty());
}

TEST(Events, MarksOfAnotherBootHaveNoPlaceAmongThem) {
  Machine machine;
  const auto view = machine.view(20 * kSecond);
  recorder::BootId other{};
  other.fill(7);
  Journal journal(recorder::Origin{.boot_id = other});
  journal.add(11 * kSecond, "of yesterday");
  journal.write();
  view->use_journal(journal.reader());
  EXPECT_EQ(view->journal(), nullptr);
  EXPECT_TRUE(read_events(*view, {}).empty());
}

TEST(Events, AJournalByItselfCanBeRead) {
  Journal journal;
  journal.add(11 * kSecond, "alone");
  journal.write();
  const auto events = read_events(*View::adopt(journal.reader(), nullptr), {});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].text, "alone");
}

}  // namespace
}  // namespace everywatt::view
