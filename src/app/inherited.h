// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a process has from whoever starts it and what would break it: undone before anything else.
namespace everywatt::app {

// Opens /dev/null in the place of a standard descriptor that is closed: the next file would get its
// number, and what is meant for people would be written into it.
void fill_standard_descriptors();

// Children that end are told, though the parent ignores that of its own; the modes of files are
// those that we ask for, whatever umask the parent has. For a process that has children and files
// that other users read; they inherit it.
void undo_inherited_habits();

}  // namespace everywatt::app
