// SPDX-License-Identifier: Apache-2.0
#include "serve/web/journal.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>

namespace everywatt::web {
namespace {

using catalog::MetricId;

// Whom the kernel says a message is from. Nothing: it does not say.
std::optional<ucred> find_credentials(msghdr& message) {
  for (cmsghdr* each = CMSG_FIRSTHDR(&message); each != nullptr;
       each = CMSG_NXTHDR(&message, each)) {
    if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_CREDENTIALS) continue;
    ucred credentials{};
    std::memcpy(&credentials, CMSG_DATA(each), sizeof(credentials));
    return credentials;
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::unique_ptr<Journal>> Journal::open(JournalOptions options, base::Clock clock) {
  auto file = recorder::File::adopt(std::move(options.file));
  if (!file) return std::unexpected(file.error());
  auto writer = (*file)->writer(0, catalog::Lane::kEvent);
  if (!writer) return std::unexpected(writer.error());
  return std::unique_ptr<Journal>(new Journal(std::move(options.socket), *std::move(file),
                                              *std::move(writer), std::move(clock)));
}

Journal::Journal(base::UniqueFd socket, std::unique_ptr<recorder::File> file,
                 recorder::Writer writer, base::Clock clock)
    : socket_(std::move(socket)),
      file_(std::move(file)),
      writer_(writer),
      clock_(std::move(clock)),
      row_(catalog::Scope::kNode, catalog::Lane::kEvent) {}

void Journal::receive() {
  for (unsigned taken = 0; taken < kAtOnce; ++taken) {
    if (!receive_one()) return;
  }
}

// False: there is nothing more.
bool Journal::receive_one() {
  std::array<char, kMostAnnotationBytes> bytes;
  // Room for the credentials and nothing else: descriptors that somebody sends along are not taken.
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control;
  iovec place{.iov_base = bytes.data(), .iov_len = bytes.size()};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return false;
  const auto credentials = find_credentials(message);
  const std::int64_t now_ns = clock_();
  // Before the rest, so that a storm costs next to nothing.
  if (!credentials || !pace_.admit(credentials->uid, now_ns)) {
    ++counts_.limited;
    return true;
  }
  if ((message.msg_flags & MSG_TRUNC) != 0) {
    ++counts_.too_large;
    return true;
  }
  const auto annotation = parse_annotation({bytes.data(), static_cast<std::size_t>(got)});
  if (!annotation) {
    ++counts_.malformed;
    return true;
  }
  write(*annotation, {.uid = credentials->uid, .pid = static_cast<std::uint32_t>(credentials->pid)},
        now_ns);
  ++counts_.written;
  return true;
}

void Journal::write(const Annotation& annotation, const Sender& sender, std::int64_t now_ns) {
  row_.clear();
  row_.time_ns = now_ns;
  row_.set(MetricId::annotation_wall_ns, base::walltime_ns());
  row_.set(MetricId::annotation_uid, std::uint64_t{sender.uid});
  if (sender.pid != 0) row_.set(MetricId::annotation_pid, std::uint64_t{sender.pid});
  if (!annotation.text.empty()) row_.set_text(MetricId::annotation_text, annotation.text);
  if (annotation.step) row_.set(MetricId::annotation_step, *annotation.step);
  if (annotation.epoch) row_.set(MetricId::annotation_epoch, *annotation.epoch);
  if (!annotation.phase.empty()) row_.set_text(MetricId::annotation_phase, annotation.phase);
  unsigned place = 0;
  for (const auto& [name, value] : annotation.values) {
    row_.set_text(MetricId::annotation_value_name, name, place);
    row_.set(MetricId::annotation_value, value, place);
    ++place;
  }
  writer_.append(row_);
}

void Journal::append_counts(exporter::Exposition& out) const {
  out.begin_family("everywatt_annotations_total", "counter",
                   "Marks that were sent, by what became of them.");
  const auto append = [&](std::string_view result, std::uint64_t count) {
    out.sample().label("result", result).value(count);
  };
  append("written", counts_.written);
  append("limited", counts_.limited);
  append("malformed", counts_.malformed);
  append("too_large", counts_.too_large);
}

}  // namespace everywatt::web
