// SPDX-License-Identifier: Apache-2.0
#include "serve/web/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cstring>

#include "record/recorder/layout.h"
#include "record/recorder/reader.h"

namespace everywatt::web {
namespace {

using catalog::MetricId;
using catalog::Row;

constexpr std::int64_t kSecond = 1'000'000'000;

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends), 0);
    sender_ = base::UniqueFd(ends[0]);
    base::UniqueFd socket(ends[1]);
    const int on = 1;
    EXPECT_EQ(::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)), 0);
    file_ = recorder::File::create_anonymous(recorder::journal_layout()).value();
    journal_ = Journal::open({.socket = std::move(socket), .file = copy_of_file()}, [this] {
                 return now_ns_;
               }).value();
  }

  base::UniqueFd copy_of_file() const {
    return base::UniqueFd(::fcntl(file_->fd(), F_DUPFD_CLOEXEC, 0));
  }
  void send(std::string_view message) const {
    EXPECT_EQ(::send(sender_.get(), message.data(), message.size(), MSG_DONTWAIT),
              static_cast<ssize_t>(message.size()));
  }
  void exchange(std::string_view message) {
    send(message);
    journal_->receive();
  }
  Row row(std::uint64_t sequence) const {
    Row row(catalog::Scope::kNode, catalog::Lane::kEvent);
    const auto reader = recorder::Reader::adopt(copy_of_file(), "journal").value();
    EXPECT_EQ(reader->read(0, sequence, row), recorder::RowState::kOk);
    return row;
  }

  std::int64_t now_ns_ = 50 * kSecond;
  base::UniqueFd sender_;
  std::unique_ptr<recorder::File> file_;
  std::unique_ptr<Journal> journal_;
};

TEST_F(JournalTest, KeepsAMarkWithItsSender) {
  exchange(R"({"text":"lr\u0007 drop","step":7,"epoch":2,"phase":"train","values":{"loss":0.5}})");
  const Row mark = row(0);
  EXPECT_EQ(mark.time_ns, 50 * kSecond);
  EXPECT_EQ(mark.reading(MetricId::annotation_uid).u64(), ::geteuid());
  EXPECT_EQ(mark.reading(MetricId::annotation_pid).u64(), static_cast<std::uint64_t>(::getpid()));
  EXPECT_EQ(mark.text(MetricId::annotation_text).find('\a'), std::string_view::npos);
  EXPECT_EQ(mark.reading(MetricId::annotation_step).i64(), 7);
  EXPECT_EQ(mark.reading(MetricId::annotation_epoch).f64(), 2);
  EXPECT_EQ(mark.text(MetricId::annotation_phase), "train");
  EXPECT_EQ(mark.text(MetricId::annotation_value_name, 0), "loss");
  EXPECT_EQ(mark.reading(MetricId::annotation_value, 0).f64(), 0.5);
  EXPECT_FALSE(mark.reading(MetricId::annotation_value, 1).is_ok());
  EXPECT_EQ(journal_->counts().written, 1u);
}

TEST_F(JournalTest, LeavesOutWhatIsNotSaid) {
  exchange(R"({"step":7})");
  const Row mark = row(0);
  EXPECT_FALSE(mark.reading(MetricId::annotation_text).is_ok());
  EXPECT_FALSE(mark.reading(MetricId::annotation_epoch).is_ok());
  EXPECT_FALSE(mark.reading(MetricId::annotation_phase).is_ok());
}

TEST_F(JournalTest, CountsWhatItDrops) {
  exchange("no JSON");
  exchange("");
  exchange(R"({"text":")" + std::string(3000, 'x') + R"("})");
  exchange(R"({"text":"good"})");
  EXPECT_EQ(journal_->counts().malformed, 2u);
  EXPECT_EQ(journal_->counts().too_large, 1u);
  EXPECT_EQ(journal_->counts().written, 1u);
  std::string text;
  exporter::Exposition out(text);
  journal_->append_counts(out);
  EXPECT_NE(text.find("{result=\"malformed\"} 2\n"), std::string::npos);
}

TEST_F(JournalTest, HoldsASenderToItsPace) {
  for (int i = 0; i < 150; ++i) {
    exchange(R"({"step":1})");
  }
  EXPECT_EQ(journal_->counts().written, 100u);
  EXPECT_EQ(journal_->counts().limited, 50u);
  now_ns_ += kSecond;
  for (int i = 0; i < 150; ++i) {
    exchange(R"({"step":2})");
  }
  EXPECT_EQ(journal_->counts().written, 120u);
}

TEST_F(JournalTest, TakesNoDescriptors) {
  const std::string_view text = R"({"text":"with a file"})";
  iovec place{.iov_base = const_cast<char*>(text.data()), .iov_len = text.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int sent = sender_.get();
  std::memcpy(CMSG_DATA(rights), &sent, sizeof(sent));
  const int before = ::dup(0);
  ::close(before);
  ASSERT_EQ(::sendmsg(sender_.get(), &message, 0), static_cast<ssize_t>(text.size()));
  journal_->receive();
  const int after = ::dup(0);
  ::close(after);
  EXPECT_EQ(after, before);
  EXPECT_EQ(journal_->counts().written, 1u);
}

TEST_F(JournalTest, GoesOnWhereAnEarlierServerEnded) {
  exchange(R"({"step":1})");
  journal_.reset();
  journal_ = Journal::open({.socket = {}, .file = copy_of_file()}).value();
  const auto reader = recorder::Reader::adopt(copy_of_file(), "journal").value();
  EXPECT_EQ(reader->published(0), 1u);
}

TEST(Journal, IsARecorderFile) {
  EXPECT_FALSE(Journal::open({.socket = {}, .file = base::UniqueFd(::open("/dev/null", O_RDWR))}));
}

}  // namespace
}  // namespace everywatt::web
