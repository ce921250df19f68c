#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tree.sh BUILD TREE: what every package holds, as it lies below /usr or in any folder.
set -euo pipefail
build=$1
tree=$2
umask 022
export LC_ALL=C

mkdir -p "$tree"/{bin,lib/everywatt,share/everywatt,share/doc/everywatt/licenses}
strip --strip-unneeded -o "$tree/bin/everywatt" "$build/everywatt"
ln -s everywatt "$tree/bin/dcgm-exporter"
# The demo: simulated GPUs, and what they play.
for file in everywatt-player libnvidia-ml-sim.so; do
  strip --strip-unneeded -o "$tree/lib/everywatt/$file" "$build/$file"
done
chmod 0755 "$tree/bin/everywatt" "$tree/lib/everywatt/everywatt-player"
chmod 0644 "$tree/lib/everywatt/libnvidia-ml-sim.so"
cp -r traces scenarios "$tree/share/everywatt/"
cp docs/everywatt.toml "$tree/share/everywatt/"
cp -r deploy "$tree/share/everywatt/"
rm -rf "$tree/share/everywatt/deploy/grafana/source"
find "$tree" -name .gitignore -delete

doc=$tree/share/doc/everywatt
cp README.md README.zh-CN.md CHANGELOG.md LICENSE THIRD_PARTY_NOTICES.md "$doc/"
cp licenses/* "$doc/licenses/"
cp -r docs "$doc/"

manual() {  # manual FOLDER [OPTION...]
  mkdir -p "$tree/share/man/$1"
  "$build/everywatt" manual "${@:2}" | gzip -9n >"$tree/share/man/$1/everywatt.1.gz"
  local command
  for command in $commands; do
    "$build/everywatt" manual "$command" "${@:2}" | gzip -9n >"$tree/share/man/$1/everywatt-$command.1.gz"
  done
}
commands=$("$build/everywatt" completions bash | sed -n "s/^  local commands='\(.*\)'$/\1/p")
[[ -n $commands ]]
manual man1
manual zh_CN/man1 --lang zh
ln -s everywatt.1.gz "$tree/share/man/man1/dcgm-exporter.1.gz"

completions() {  # completions SHELL FILE
  mkdir -p "$(dirname "$tree/share/$2")"
  "$build/everywatt" completions "$1" >"$tree/share/$2"
}
completions bash bash-completion/completions/everywatt
completions zsh zsh/vendor-completions/_everywatt
completions fish fish/vendor_completions.d/everywatt.fish
find "$tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
