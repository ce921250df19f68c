#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev fuzz [TARGET] [--minutes N]: each fuzzer for N minutes. What it finds interesting is kept in
# build/fuzz/corpus/TARGET; tests/corpus/TARGET, where there is one, is what it starts from.
set -euo pipefail
source tools/dev/common.sh

minutes=1
target=
while (($#)); do
  case $1 in
    --minutes)
      [[ ${2:-} =~ ^[0-9]+$ ]] || die 2 "--minutes needs a whole number"
      minutes=$2
      shift
      ;;
    --yes) assume_yes=yes ;;
    -*) die 2 "usage: ./dev fuzz [TARGET] [--minutes N] [--yes]" ;;
    *) target=$1 ;;
  esac
  shift
done

need_packages build test
build fuzz fuzzers
ran=
for program in build/fuzz/fuzz/fuzz_*; do
  name=${program##*/fuzz_}
  [[ -x $program && (-z $target || $name == "$target") ]] || continue
  ran=yes
  corpus=build/fuzz/corpus/$name
  corpora=("$corpus")
  [[ ! -d tests/corpus/$name ]] || corpora+=("tests/corpus/$name")
  mkdir -p "$corpus"
  say "fuzzing $name for $minutes min"
  "$program" -max_total_time=$((minutes * 60)) -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$corpus.crash-" "${corpora[@]}"
done
[[ -n $ran ]] || die 2 "no fuzzer ${target:-at all}"
