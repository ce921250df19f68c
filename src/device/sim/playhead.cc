// SPDX-License-Identifier: Apache-2.0
#include "device/sim/playhead.h"

#include <cstring>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/file.h"

namespace everywatt::sim {
namespace {

constexpr std::string_view kMagic("EWPLAY1\0", 8);
constexpr std::int64_t kMillion = 1'000'000;

std::unique_ptr<PlayheadWords> fresh_words(Pace pace) {
  auto words = std::make_unique<PlayheadWords>();
  std::memcpy(words->magic, kMagic.data(), kMagic.size());
  words->mode = pace == Pace::kRealTime ? 1 : 0;
  words->origin_ns = base::boottime_ns();
  words->rate_millionths = kMillion;
  words->wall_ns = base::walltime_ns();
  words->functions = kCalls.size();
  for (std::size_t i = 0; i < kCalls.size(); ++i) {
    kCalls[i].copy(words->counts[i].name, sizeof words->counts[i].name - 1);
  }
  return words;
}

}  // namespace

base::Status Playhead::create(const std::string& path, Pace pace) {
  const auto words = fresh_words(pace);
  const std::string_view bytes(reinterpret_cast<const char*>(words.get()), sizeof *words);
  return base::write_file_atomically(path, bytes, 0666);
}

base::Result<Playhead> Playhead::open(const std::string& path) {
  base::Result<base::MappedFile> file = base::MappedFile::open(path, base::MapAccess::kReadWrite);
  if (!file) return std::unexpected(file.error());
  if (file->size() < sizeof(PlayheadWords) ||
      std::memcmp(file->bytes(), kMagic.data(), kMagic.size()) != 0) {
    return base::fail(base::Code::kCorrupt, path + ": not a playhead of this version");
  }
  Playhead playhead;
  playhead.file_ = std::move(*file);
  return playhead;
}

Playhead Playhead::unshared() {
  Playhead playhead;
  playhead.own_ = fresh_words(Pace::kRealTime);
  return playhead;
}

PlayheadWords& Playhead::words() const {
  return own_ ? *own_ : *reinterpret_cast<PlayheadWords*>(file_.bytes());
}

Moment Playhead::now() const {
  const PlayheadWords& shared = words();
  std::int64_t played_ns = shared.position_ns.load();
  if (shared.mode.load() == 1) {
    const std::int64_t elapsed_ns = base::boottime_ns() - shared.origin_ns.load();
    const std::int64_t rate = shared.rate_millionths.load();
    // Split, because the product of both overflows after two hours.
    played_ns = elapsed_ns / kMillion * rate + elapsed_ns % kMillion * rate / kMillion;
  }
  return {played_ns, shared.wall_ns.load() + played_ns};
}

bool Playhead::is_stepped() const {
  return words().mode.load() == 0;
}

std::int64_t Playhead::wall_ns(std::int64_t played_ns) const {
  return words().wall_ns.load() + played_ns;
}

std::int64_t Playhead::origin_ns() const {
  return words().origin_ns.load();
}

void Playhead::step_to(std::int64_t played_ns) {
  words().position_ns.store(played_ns);
  words().mode.store(0);
}

}  // namespace everywatt::sim
