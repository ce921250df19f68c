// SPDX-License-Identifier: Apache-2.0
#include "app/journal_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "catalog/catalog.h"
#include "record/recorder/layout.h"
#include "record/recorder/reader.h"

namespace everywatt::app {
namespace {

using catalog::Lane;
using catalog::Scope;

constexpr unsigned kJournalMode = 0640;
constexpr mode_t kFolderMode = 0750;
constexpr int kKeptAside = 9;

base::Result<base::UniqueFd> take_folder(const std::string& path) {
  std::error_code error;
  // ~/.local may not be there yet on a fresh account.
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return base::fail_errno("create", path);
  }
  base::UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return base::fail_errno("open", path);
  struct stat about{};
  if (::fstat(folder.get(), &about) != 0) return base::fail_errno("look at", path);
  if (about.st_uid != ::geteuid()) {
    return base::fail(base::Code::kNoPermission,
                      fmt::format("{} belongs to user {}", path, about.st_uid));
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return base::fail(base::Code::kNoPermission, fmt::format("others may write to {}", path),
                      fmt::format("run: chmod go-w {}", path));
  }
  if (::flock(folder.get(), LOCK_EX | LOCK_NB) != 0) {
    return base::fail(base::Code::kUnavailable, fmt::format("another daemon uses {}", path));
  }
  return folder;
}

// Whether rows of this version can go on in it.
bool is_continuable(const recorder::Reader& reader) {
  const auto layout = recorder::journal_layout();
  const std::uint64_t capacity =
      layout.capacity[static_cast<unsigned>(Scope::kNode)][static_cast<unsigned>(Lane::kEvent)];
  if (reader.source() != recorder::Source::kJournal || !reader.is_of_this_boot()) return false;
  if (reader.ring_count() != 1 || reader.ring(0).capacity != capacity) return false;
  return std::ranges::all_of(catalog::schema(Scope::kNode, Lane::kEvent).metrics,
                             [&](catalog::MetricId id) { return reader.has_metric(id); });
}

std::unique_ptr<recorder::File> try_continue(const std::string& path) {
  const auto reader = recorder::Reader::open(path);
  if (!reader || !is_continuable(**reader)) return nullptr;
  base::UniqueFd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat about{};
  if (!fd.is_open() || ::fstat(fd.get(), &about) != 0 || about.st_uid != ::geteuid()) {
    return nullptr;
  }
  auto file = recorder::File::adopt(std::move(fd));
  if (!file) return nullptr;
  (*file)->header().closed_ns.store(0);
  return *std::move(file);
}

// One in which nobody ever left a mark is not worth keeping.
bool is_empty(const std::string& path) {
  const auto reader = recorder::Reader::open(path);
  return reader && (*reader)->ring_count() == 1 && (*reader)->published(0) == 0;
}

base::Status keep_aside(const std::string& path) {
  struct stat about{};
  if (::lstat(path.c_str(), &about) != 0 || is_empty(path)) return {};
  for (int place = kKeptAside - 1; place > 0; --place) {
    // Most are not there.
    ::rename(fmt::format("{}.{}", path, place).c_str(),
             fmt::format("{}.{}", path, place + 1).c_str());
  }
  if (::rename(path.c_str(), (path + ".1").c_str()) != 0) {
    return base::fail_errno("keep aside", path);
  }
  return {};
}

}  // namespace

DataFolderSources data_folder_sources(const std::string& asked) {
  const char* home = std::getenv("HOME");
  return {.asked = asked, .home = home == nullptr ? "" : home, .uid = ::geteuid()};
}

std::string choose_data_folder(const DataFolderSources& sources) {
  if (!sources.asked.empty()) return sources.asked;
  if (sources.uid == 0) return "/var/lib/everywatt";
  return sources.home.empty() ? "" : sources.home + "/.local/share/everywatt";
}

base::Result<JournalFile> open_journal_file(const std::string& folder) {
  if (folder.empty()) {
    return base::fail(base::Code::kNotFound, "there is no home folder to keep a journal in",
                      "name a place with --data-dir");
  }
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(folder, error).lexically_normal();
  auto lock = take_folder(absolute);
  if (!lock) return std::unexpected(lock.error());
  JournalFile journal;
  journal.path = (std::filesystem::path(absolute) / kJournalName).string();
  journal.lock = *std::move(lock);
  journal.file = try_continue(journal.path);
  if (!journal.file) {
    if (auto kept = keep_aside(journal.path); !kept) return std::unexpected(kept.error());
    auto file = recorder::File::create(journal.path, kJournalMode, recorder::journal_layout());
    if (!file) return std::unexpected(file.error());
    journal.file = *std::move(file);
  }
  // Its pages exist from now on: a full disk is told here and not while somebody's mark is written.
  if (auto room = journal.file->writer(0, Lane::kEvent); !room) {
    return std::unexpected(room.error());
  }
  return journal;
}

}  // namespace everywatt::app
