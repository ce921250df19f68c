#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev package: a Debian package, a tarball and an OCI image in build/package, all from one tree of
# installed files. The same source gives the same bytes.
set -euo pipefail
source tools/dev/common.sh

for argument in "$@"; do
  case $argument in
    --yes) assume_yes=yes ;;
    *) die 2 "usage: ./dev package [--yes]" ;;
  esac
done

need_packages build package
build release product
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
rm -rf build/package
tools/package/tree.sh build/release build/package/tree
tools/package/tarball.sh build/package/tree build/package
tools/package/deb.sh build/package/tree build/package
/usr/bin/python3 tools/package/image.py build/package/tree build/package
rm -rf build/package/tree
ls -l build/package >&2
