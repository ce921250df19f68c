// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "record/recorder/writer.h"

namespace everywatt::app {

inline constexpr std::string_view kJournalName = "journal";
inline constexpr std::string_view kAnnotateName = "annotate.sock";

// What the rules for the place of lasting files look at.
struct DataFolderSources {
  std::string asked;  // --data-dir or data.folder
  std::string home;   // "": none
  std::uint32_t uid = 0;
};
DataFolderSources data_folder_sources(const std::string& asked);
// What was asked for, else /var/lib/everywatt for root, else ~/.local/share/everywatt. "": no
// place.
std::string choose_data_folder(const DataFolderSources& sources);

// The journal of this boot, open for writing, with room for all its rows.
struct JournalFile {
  std::string path;
  std::unique_ptr<recorder::File> file;
  base::UniqueFd lock;  // of the folder: no other daemon takes it while this is open
};

// Makes the folder if need be and takes up the journal in it. One of an earlier boot, of another
// layout or damaged is kept aside as journal.1, older ones as .2 and so on up to .9. kUnavailable:
// another daemon has it. kNoPermission: owner or rights are wrong. kIo: no room.
base::Result<JournalFile> open_journal_file(const std::string& folder);

}  // namespace everywatt::app
