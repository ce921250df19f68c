#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev bench [PATTERN]: the rooms' benchmarks, then the scripts in bench/ that measure the program.
set -euo pipefail
source tools/dev/common.sh

pattern=
for argument in "$@"; do
  case $argument in
    --yes) assume_yes=yes ;;
    -*) die 2 "usage: ./dev bench [PATTERN] [--yes]" ;;
    *) pattern=$argument ;;
  esac
done

need_packages build test
build release product benches
for program in build/release/bench/bench_*; do
  [[ -x $program ]] || continue
  "$program" --benchmark_filter="${pattern:-.}"
done

shopt -s nullglob
scripts=(bench/bench_*.py)
((${#scripts[@]})) || exit 0
need_venv
export_paths "$PWD/build/release"
for script in "${scripts[@]}"; do
  [[ -n $pattern && $script != *"$pattern"* ]] || "$python" "$script"
done
