// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

// Where the recorder lies. Writers take the first of the rules below; readers try all in turn.
namespace everywatt::app {

inline constexpr std::string_view kRecorderName = "recorder";
inline constexpr std::string_view kIdentitiesName = "identities";

// What the rules look at, so that they can be tested without an environment.
struct RunFolderSources {
  std::string asked;  // --run-dir or run.folder
  std::string everywatt_run_dir;
  std::string xdg_runtime_dir;
  std::uint32_t uid = 0;
};
RunFolderSources run_folder_sources(const std::string& asked);

// The folder in which a daemon of this user keeps its files.
std::string choose_run_folder(const RunFolderSources& sources);
// The folders in which a reader looks, in order: one that was asked for is the only one.
std::vector<std::string> run_folders_to_search(const RunFolderSources& sources);

// Where the recorder of a run folder is: in it, or, when the folder is not memory-backed, in the
// folder of shared memory that it names.
std::string recorder_folder(const std::string& run_folder);

// A run folder that this process holds: no other daemon can take it until its locks are closed.
struct RunFolder {
  std::string path;     // as people know it
  std::string files;    // where recorder and identities go; another one if that is not in memory
  std::string warning;  // what is to be said about it; "" if nothing
  base::UniqueFd lock;
  base::UniqueFd files_lock;  // of `files`, where that is another folder
};

// Makes the folder if need be, checks who owns it and that nobody else may write to it, and locks
// it. `needed_bytes` is how much memory the files may come to: shared memory that cannot hold them
// is not used. kUnavailable: another daemon has it. kNoPermission: owner or rights are wrong, or it
// is a symbolic link.
base::Result<RunFolder> take_run_folder(const std::string& path, std::uint64_t needed_bytes);

}  // namespace everywatt::app
