#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev fuzz [TARGET...] [--minutes N | --seconds N]: each fuzzer, or those named, for N minutes. They
# start from tests/corpus/TARGET; what they find interesting is kept in build/fuzz/corpus/TARGET.
set -euo pipefail
source tools/dev/common.sh

seconds=60
targets=()
while (($#)); do
  case $1 in
    --minutes | --seconds)
      [[ ${2:-} =~ ^[0-9]{1,6}$ ]] || die 2 "$1 needs a whole number"
      seconds=$((10#$2))
      [[ $1 == --seconds ]] || seconds=$((seconds * 60))
      shift
      ;;
    --yes) assume_yes=yes ;;
    -*) die 2 "usage: ./dev fuzz [TARGET...] [--minutes N | --seconds N] [--yes]" ;;
    *) targets+=("$1") ;;
  esac
  shift
done

# The names are those of the sources: known before anything is built.
mapfile -t names < <(find src -name '*_fuzz.cc' -printf '%f\n' | sed 's/_fuzz\.cc$//' | sort)
for target in "${targets[@]}"; do
  [[ " ${names[*]} " == *" $target "* ]] || die 2 "no fuzzer $target: there are ${names[*]}"
done
say "fuzzers: ${names[*]}"
((${#targets[@]})) || targets=("${names[@]}")

need_packages build test
build fuzz "${targets[@]/#/fuzz_}"

# Fake machines and traces are written anew for each input: in memory where that can be.
[[ ! -w /dev/shm ]] || export TMPDIR=/dev/shm
for name in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  say "fuzzing $name for $seconds s"
  "build/fuzz/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$corpus." \
    "$corpus" "tests/corpus/$name" || {
    found=$(find build/fuzz/corpus -maxdepth 1 -type f -name "$name.*" -printf '%T@ %p\n' |
      sort -n | tail -1 | cut -d' ' -f2)
    die 1 "fuzzer $name found something; the input is ${found:-not written}
  see it again:  build/fuzz/fuzz/fuzz_$name $found
  make it small: build/fuzz/fuzz/fuzz_$name -minimize_crash=1 -max_total_time=60 $found
  then fix what it shows and keep the input: it becomes tests/corpus/$name/WHAT_IT_SHOWS, which the
  tests of every build replay"
  }
done
