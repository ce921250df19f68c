#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev lint [--all]: all that a reader of the code should not have to check by eye. Every check
# runs, whatever the ones before it found.
set -euo pipefail
source tools/dev/common.sh

# Before the first release there is no tag to compare with: the rooms that all others stand on.
tidy_rooms='^src/(base|catalog|record/recorder|device/nvml)/'

all=
for argument in "$@"; do
  case $argument in
    --all) all=yes ;;
    --yes) assume_yes=yes ;;
    *) die 2 "usage: ./dev lint [--all] [--yes]" ;;
  esac
done

failed=()
check() {  # check NAME COMMAND...
  local name=$1
  shift
  if "$@"; then say "ok      $name"; else
    say "FAILED  $name"
    failed+=("$name")
  fi
}

formatting() { our_files '*.cc' '*.h' | xargs -r clang-format-19 --dry-run --Werror; }
files() { our_files | tools/check_files.py; }
shell() { our_files dev '*.sh' .ci/run | xargs -r shellcheck -x; }
python_sources() { our_files '*.py' | xargs -r /usr/bin/python3 -m pyflakes; }
# The fuzz preset compiles every kind of file there is, and with clang, so its commands serve here.
wiring() {
  configure fuzz && our_files '*.cc' | tools/check_wired.py build/fuzz/compile_commands.json
}

tidy_files() {
  local tag
  if [[ -n $all ]]; then
    our_files 'src/*.cc' 'tests/*.cc' 'bench/*.cc'
  elif tag=$(git describe --tags --abbrev=0 2>/dev/null); then
    git diff --name-only --diff-filter=d "$tag" -- 'src/*.cc'
  else
    our_files 'src/*.cc' | grep -E "$tidy_rooms" | grep -vE '_(test|bench|fuzz)\.cc$' || true
  fi
}
tidy() {
  tidy_files | xargs -r -P "$(nproc)" -n 1 \
    clang-tidy-19 --quiet --warnings-as-errors='*' -p build/fuzz 2>&1 |
    { grep -v '[0-9]* warnings\? generated' || true; }
}

need_packages build lint
check formatting formatting
check includes tools/check_includes.py
check files files
check shell shell
check python python_sources
check wiring wiring
check tidy tidy
check docs tools/check_docs.sh
check faults tools/faults_table.py --check
check dashboards deploy/grafana/source/build.py --check

((!${#failed[@]})) || die 1 "lint failed: ${failed[*]}"
