# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What the commands of ./dev share. Sourced, with the root of the checkout as working folder.

# Set by --yes, and implied where nobody could answer.
assume_yes=${CI:+yes}

say() { printf '%s\n' "$*" >&2; }

die() {  # die EXIT_CODE TEXT...
  local code=$1
  shift
  say "$@"
  exit "$code"
}

is_installed() {
  [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Prints the packages of the groups that are missing, each as its line names it.
missing_packages() {  # missing_packages GROUP...
  local group names name
  while read -r group names; do
    [[ " $* " == *" $group "* ]] || continue
    for name in ${names//|/ }; do
      is_installed "$name" && continue 2
    done
    echo "$names"
  done < <(grep -v '^#' tools/packages.txt) | sort -u
}

# Prints the first alternative that apt knows, or the last when it knows none.
choose_package() {  # choose_package NAME|NAME...
  local name
  for name in ${1//|/ }; do
    [[ -n $(apt-cache show --no-all-versions "$name" 2>/dev/null) ]] && break
  done
  echo "$name"
}

need_packages() {  # need_packages GROUP...
  command -v dpkg-query >/dev/null ||
    die 2 "this needs Debian 12 or Ubuntu 24.04; elsewhere install what tools/packages.txt names"
  local missing line sudo=()
  missing=$(missing_packages "$@")
  [[ -n $missing ]] || return 0
  if ((EUID != 0)); then
    sudo=(sudo)
    if [[ -z $assume_yes ]]; then
      line=$(for name in $missing; do choose_package "$name"; done | xargs)
      say "missing packages; run this line, or the same command again with --yes:"
      say "  sudo apt-get update && sudo apt-get install -y --no-install-recommends $line"
      exit 2
    fi
  fi
  "${sudo[@]}" apt-get update -qq >&2
  # shellcheck disable=SC2046  # one word a package
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    $(for name in $missing; do choose_package "$name"; done) >&2
}

build() {  # build PRESET TARGET...
  local preset=$1
  shift
  configure "$preset" || return
  cmake --build "build/$preset" --target "$@" >&2
}

configure() {  # configure PRESET
  local log="build/$1.configure.log"
  mkdir -p build
  cmake --preset "$1" >"$log" 2>&1 || {
    cat "$log" >&2
    return 1
  }
  grep -A3 'CMake Warning' "$log" >&2 || true
}

# The Python that tests and benchmarks run with, made anew when its requirements change.
python=build/venv/bin/python
need_venv() {
  local stamp=build/venv/requirements.txt
  cmp -s tests/requirements.txt "$stamp" && return
  rm -rf build/venv
  /usr/bin/python3 -m venv build/venv &&
    "$python" -m pip install --quiet --requirement tests/requirements.txt >&2 &&
    cp tests/requirements.txt "$stamp"
}

# Servers for the tests that check what they make of us. Unpacked, not installed: their packages
# would start them on the developer's machine.
unpack_package() {  # unpack_package NAME PROGRAM
  command -v "$2" >/dev/null && return
  local folder=build/$1
  if [[ ! -x $folder/usr/bin/$2 ]]; then
    mkdir -p "$folder" || return
    (cd "$folder" && apt-get download -qq "$1" && dpkg -x "$1"_*.deb . &&
      rm -rf "$1"_*.deb etc lib var usr/share/{doc,man}) >&2 || return
  fi
  PATH="$PWD/$folder/usr/bin:$PATH"
}
need_prometheus() { unpack_package prometheus promtool; }
need_victoria_metrics() { unpack_package victoria-metrics victoria-metrics; }
need_node_exporter() { unpack_package prometheus-node-exporter prometheus-node-exporter; }
# Started by tools/dev/alertmanager.
need_alertmanager() { unpack_package prometheus-alertmanager amtool; }

export_paths() {  # export_paths BUILD_DIR
  export EVERYWATT_SOURCE_DIR=$PWD
  export EVERYWATT_BUILD_DIR=$1
  export EVERYWATT_BIN=$1/everywatt
}

# All files of a kind that are ours, whether committed yet or not.
our_files() {  # our_files GLOB...
  git ls-files --cached --others --exclude-standard -- "$@" | sort -u |
    while read -r file; do [[ ! -f $file ]] || echo "$file"; done
}
