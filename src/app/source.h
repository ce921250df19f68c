// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "app/arguments.h"
#include "app/config.h"
#include "base/result.h"
#include "read/view/view.h"
#include "record/recorder/writer.h"

namespace everywatt::app {

// What a command does when no daemon runs.
enum class NoDaemon {
  kReadOnce,  // reads each GPU once by itself
  kShowOld,   // shows what the last daemon left behind, as of its end
  kComplain,  // kUnavailable
};

enum class SourceKind { kDaemon, kFile, kOwnReading };

// Where a command reads from.
struct Source {
  SourceKind kind = SourceKind::kDaemon;
  std::string path;  // of the recorder file; "" for an own reading
  std::unique_ptr<view::View> view;
};

// The recording that --recorder names, or the running daemon's, or an own reading. Says on stderr
// when it is not the daemon's. The errors name where was looked and what to do.
base::Result<Source> open_source(const Arguments& arguments, const Config& config,
                                 NoDaemon no_daemon);

// The same without an own reading: kUnavailable when no daemon runs, or when a library or a root
// was named, which asks for an own reading.
base::Result<Source> find_source(const Arguments& arguments, const Config& config);

// The run folder of the daemon that runs: the one that was asked for, else the first of the usual
// ones. kUnavailable: none does.
base::Result<std::string> find_daemon(const Config& config);

// A file that somebody writes right now on this machine.
bool is_live(const recorder::Reader& reader, std::int64_t now_ns);

// kInvalidArgument: a daemon writes the file at `path` right now, and all who read it would lose it
// if another took its place.
base::Status check_replaceable(const std::string& path);

}  // namespace everywatt::app
