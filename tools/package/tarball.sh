#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tarball.sh TREE OUTPUT: the tree as everywatt-VERSION-linux-x86_64.tar.gz.
set -euo pipefail
version=$("$1/bin/everywatt" --version | cut -d' ' -f2)
name=everywatt-$version-linux-x86_64
tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
  --transform="flags=r;s,^\.,everywatt-$version," -C "$1" -cf - . | gzip -9n >"$2/$name.tar.gz"
