// SPDX-License-Identifier: Apache-2.0
#include "device/sim/root_writer.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/text.h"

namespace everywatt::sim {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMode = 0644;

// "proc/10000" for what lies in the folder of a process, else nothing.
std::string process_folder(const std::string& path) {
  constexpr std::string_view kProc = "proc/";
  if (!path.starts_with(kProc)) return {};
  const std::size_t end = path.find('/', kProc.size());
  const std::string name = path.substr(kProc.size(), end - kProc.size());
  const bool is_pid = end != std::string::npos && !name.empty() &&
                      name.find_first_not_of("0123456789") == std::string::npos;
  return is_pid ? path.substr(0, end) : std::string();
}

// Whether these are the files of one process: the same start time, the 22nd word of its stat.
bool is_same_process(const HostImage& before, const HostImage& now, const std::string& folder) {
  const auto start = [&](const HostImage& image) {
    const auto file = image.find(folder + "/stat");
    if (file == image.end()) return std::string_view();
    const std::string_view text = file->second.content;
    constexpr std::size_t kBehindName = 19;
    const auto words = base::split_words(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    return words.size() > kBehindName ? words[kBehindName] : std::string_view();
  };
  return start(before) == start(now);
}

base::Status make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return base::fail_errno("create", folder.string(), error.value());
  return {};
}

}  // namespace

base::Status RootWriter::write_file(const std::string& path, const ImageFile& file) {
  const fs::path target = fs::path(folder_) / path;
  if (auto made = make_folder(target.parent_path()); !made) return made;
  if (file.kind == ImageFile::Kind::kFile) {
    return base::write_file_atomically(target.string(), file.content, kMode);
  }
  const std::string temporary = target.string() + ".tmp";
  ::unlink(temporary.c_str());
  if (::symlink(file.content.c_str(), temporary.c_str()) != 0 ||
      ::rename(temporary.c_str(), target.c_str()) != 0) {
    return base::fail_errno("link", target.string());
  }
  return {};
}

base::Status RootWriter::write_new_process(const std::string& folder, const HostImage& image) {
  // Beside /proc, so that nobody who lists it sees the folder before it is whole.
  const std::string building = ".new-process";
  std::error_code error;
  fs::remove_all(fs::path(folder_) / building, error);
  for (auto file = image.lower_bound(folder + "/");
       file != image.end() && file->first.starts_with(folder + "/"); ++file) {
    const std::string path = building + file->first.substr(folder.size());
    if (auto written = write_file(path, file->second); !written) return written;
  }
  if (auto made = make_folder(fs::path(folder_) / "proc"); !made) return made;
  fs::remove_all(fs::path(folder_) / folder, error);
  fs::rename(fs::path(folder_) / building, fs::path(folder_) / folder, error);
  if (error) return base::fail_errno("rename", folder, error.value());
  return {};
}

// What an earlier player left in a root that this one has not written to yet.
void RootWriter::remove_stale_processes(const HostImage& image) {
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(folder_) / "proc", error)) {
    const std::string folder = process_folder("proc/" + entry.path().filename().string() + "/");
    if (folder.empty()) continue;
    const auto first = image.lower_bound(folder + "/");
    if (first != image.end() && first->first.starts_with(folder + "/")) continue;
    std::error_code ignored;
    fs::remove_all(entry.path(), ignored);
  }
}

base::Status RootWriter::write(HostImage image) {
  if (written_.empty()) remove_stale_processes(image);
  std::set<std::string> known_processes;
  for (const auto& [path, file] : written_) {
    const std::string folder = process_folder(path);
    if (folder.empty() || !path.ends_with("/stat")) continue;
    if (is_same_process(written_, image, folder)) known_processes.insert(folder);
  }
  std::set<std::string> new_processes;
  for (const auto& [path, file] : image) {
    const std::string process = process_folder(path);
    if (!process.empty() && !known_processes.contains(process)) {
      new_processes.insert(process);
      continue;
    }
    const auto before = written_.find(path);
    if (before != written_.end() && before->second == file) continue;
    if (auto written = write_file(path, file); !written) return written;
  }
  for (const std::string& process : new_processes) {
    if (auto written = write_new_process(process, image); !written) return written;
  }
  std::error_code error;
  for (const auto& [path, file] : written_) {
    if (image.contains(path)) continue;
    const fs::path gone = fs::path(folder_) / path;
    fs::remove(gone, error);
    // Upwards as long as nothing is left; the first folder that is not empty refuses.
    for (fs::path parent = gone.parent_path();
         parent != fs::path(folder_) && fs::remove(parent, error); parent = parent.parent_path()) {
    }
  }
  written_ = std::move(image);
  return {};
}

}  // namespace everywatt::sim
