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
need_node_exporter
build release product benches
export_paths "$PWD/build/release"
report=build/bench.log
failed=()
for program in build/release/bench/bench_*; do
  [[ -x $program ]] || continue
  "$program" --benchmark_filter="${pattern:-.}" | tee "$report"
  # A benchmark that gives up says so and lets its program succeed.
  ! grep -q 'ERROR OCCURRED' "$report" || failed+=("${program##*/}")
done
for script in bench/bench_*.py; do
  [[ -n $pattern && $script != *"$pattern"* ]] || /usr/bin/python3 "$script"
done

((!${#failed[@]})) || die 1 "benchmarks without a result: ${failed[*]}"
