// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/arguments.h"
#include "app/config.h"
#include "app/exit_code.h"
#include "base/result.h"

// One function a command: does it, prints what it shows to stdout, and says how it went. An error
// is for the caller to print: one line.
namespace everywatt::app {

base::Result<ExitCode> run_catalog(const Arguments& arguments);
base::Result<ExitCode> run_check_config(const Arguments& arguments);
base::Result<ExitCode> run_completions(const Arguments& arguments);
base::Result<ExitCode> run_import(const Arguments& arguments);
base::Result<ExitCode> run_manual(const Arguments& arguments);

base::Result<ExitCode> run_overview(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_discover(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_get(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_watch(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_history(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_events(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_processes(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_free(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_why(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_drain(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_resume(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_mark(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_notify(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_record(const Arguments& arguments, const Config& config);
base::Result<ExitCode> run_serve(const Arguments& arguments, const Config& config);

}  // namespace everywatt::app
