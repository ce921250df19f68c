#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev format: all C++ files, in place.
set -euo pipefail
source tools/dev/common.sh

for argument in "$@"; do
  case $argument in
    --yes) assume_yes=yes ;;
    *) die 2 "usage: ./dev format [--yes]" ;;
  esac
done
need_packages lint
our_files '*.cc' '*.h' | xargs -r clang-format-19 -i
