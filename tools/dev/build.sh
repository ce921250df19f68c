#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev build: what ships, in build/release.
set -euo pipefail
source tools/dev/common.sh

for argument in "$@"; do
  case $argument in
    --yes) assume_yes=yes ;;
    *) die 2 "usage: ./dev build [--yes]" ;;
  esac
done
need_packages build
build release product
