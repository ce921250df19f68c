#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev format: all C++ files, in place.
set -euo pipefail
source tools/dev/common.sh

[[ ${1:-} != --yes ]] || assume_yes=yes
need_packages lint
our_files '*.cc' '*.h' | xargs -r clang-format-19 -i
