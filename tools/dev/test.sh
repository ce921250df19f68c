#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev test [PATTERN] [--all]: C++ tests of the release, Python tests, then the sanitizer builds.
# Every runner leaves its verdicts as JUnit XML in build/results; the last line counts those.
set -euo pipefail
source tools/dev/common.sh

# Rooms whose threads or processes share memory: these run under the thread sanitizer. The others
# gain nothing from it.
threaded_rooms='record_recorder|record_sampler|record_hostwatch|serve_web|serve_remote_write'
# Left out of the address sanitizer's build: HTTP, and the program with it, is long to compile and
# shows little there.
heavy_rooms='serve_web|app'

pattern=
all=
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    --yes) assume_yes=yes ;;
    -*) die 2 "usage: ./dev test [PATTERN] [--all] [--yes]" ;;
    *) pattern=$argument ;;
  esac
done
[[ $pattern =~ ^[A-Za-z0-9_./-]*$ ]] ||
  die 2 "PATTERN is a part of a test's name: letters, digits and _ . / -"

results=$PWD/build/results
failed_step() {  # failed_step NAME: counts as one failed test
  say "FAILED: $1"
  printf '<testsuites><testsuite name="dev"><testcase name="%s"><failure/></testcase>%s\n' \
    "$1" '</testsuite></testsuites>' >"$results/${1// /_}.xml"
}

test_programs() {  # test_programs PRESET: names of targets and ctest's tests alike
  ctest --test-dir "build/$1" -N | sed -n 's/^ *Test *#[0-9]*: //p'
}

# The programs that were built say which tests they hold, so a pattern needs no list of them.
run_cpp_tests() {  # run_cpp_tests PRESET PROGRAM...
  local preset=$1 filter='*'
  shift
  [[ -z $pattern ]] || filter="*$pattern*"
  mkdir -p "$results/$preset"
  LSAN_OPTIONS="suppressions=$PWD/tools/lsan.supp:print_suppressions=0" \
    GTEST_FILTER=$filter GTEST_OUTPUT="xml:$results/$preset/" GTEST_BRIEF=1 \
    ctest --test-dir "build/$preset" -j "$(nproc)" --output-on-failure --no-tests=error \
    --output-junit "$results/$preset.ctest.xml" -R "^($(tr ' ' '|' <<<"$*"))\$" ||
    [[ $? == 8 ]] # failed tests, which the reports name
}

run_sanitizer() {  # run_sanitizer PRESET PROGRAMS_REGEX [EXCEPT_REGEX]
  local preset=$1 programs
  configure "$preset" || return
  programs=$(test_programs "$preset" | grep -E "$2" | grep -vE "${3:-^$}" | xargs)
  [[ -n $programs ]] || return
  # shellcheck disable=SC2086  # one word a program
  build "$preset" $programs || return
  # shellcheck disable=SC2086
  run_cpp_tests "$preset" $programs
}

# A short turn of each, but of those of the program's own room unless --all.
run_fuzzers() {
  local names pruned=(-path src/app -prune -o)
  [[ -z $all ]] || pruned=()
  names=$(find src "${pruned[@]}" -name '*_fuzz.cc' -printf '%f\n' |
    sed 's/_fuzz\.cc$//' | sort | xargs)
  # shellcheck disable=SC2086  # one word a fuzzer
  tools/dev/fuzz.sh $names --seconds "${all:+6}2"
}

run_python_tests() {
  need_venv || return
  need_prometheus || say "promtool is not to be had: its tests will be skipped"
  need_victoria_metrics || say "victoria-metrics is not to be had: its tests will be skipped"
  need_alertmanager || say "amtool is not to be had: its tests will be skipped"
  export_paths "$PWD/build/release"
  "$python" -m pytest tests tools -q -p no:cacheprovider --junitxml "$results/python.xml" \
    --timeout 300 -o 'markers=long: runs with --all alone' \
    ${all:+-m ''} ${all:--m 'not long'} ${pattern:+-k "$pattern"}
}

need_packages build test package
rm -rf "$results"
mkdir -p "$results"
[[ -z $all ]] || export EVERYWATT_TEST_ALL=1

# The benchmarks run elsewhere, but what nothing builds rots.
if build release all benches; then
  # shellcheck disable=SC2046  # one word a program
  run_cpp_tests release $(test_programs release) || failed_step "release tests"
  status=0
  run_python_tests || status=$?
  # pytest: 1 is failed tests, which its report names; 5 is that the pattern selects none.
  [[ -s $results/python.xml && ($status == [01] || ($status == 5 && -n $pattern)) ]] ||
    failed_step "python tests"
else
  failed_step "release build"
fi

if [[ -z $pattern || -n $all ]]; then
  # The fuzzers' build has the address sanitizer: one build serves both.
  run_sanitizer fuzz . "_($heavy_rooms)\$" || failed_step "asan build or run"
  run_fuzzers || failed_step "fuzzers"
  run_sanitizer tsan "_($threaded_rooms)\$" || failed_step "tsan build or run"
fi

exec /usr/bin/python3 tools/count_tests.py "$results"
