#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh TREE OUTPUT: everywatt_VERSION_amd64.deb.
set -euo pipefail
tree=$(realpath "$1")
output=$(realpath "$2")
umask 022
version=$("$tree/bin/everywatt" --version | cut -d' ' -f2)
root=$output/deb
rm -rf "$root"
mkdir -p "$root"/{DEBIAN,etc/everywatt,usr/lib/systemd/system,usr/lib/sysusers.d}
cp -a "$tree/." "$root/usr/"
mv "$root/usr/share/everywatt/everywatt.toml" "$root/etc/everywatt/"
mv "$root/usr/share/everywatt/deploy/systemd/everywatt.service" "$root/usr/lib/systemd/system/"
mv "$root/usr/share/everywatt/deploy/systemd/everywatt.sysusers.conf" \
  "$root/usr/lib/sysusers.d/everywatt.conf"
rmdir "$root/usr/share/everywatt/deploy/systemd"

doc=$root/usr/share/doc/everywatt
cp tools/package/debian/copyright "$doc/copyright"

# dpkg-shlibdeps wants to stand in a source package.
shlibs() {
  local folder
  folder=$(mktemp -d)
  mkdir "$folder/debian"
  printf 'Source: everywatt\n\nPackage: everywatt\nArchitecture: amd64\n' >"$folder/debian/control"
  (cd "$folder" && dpkg-shlibdeps -O "$@") | sed -n 's/^shlibs:Depends=//p'
  rm -rf "$folder"
}
libraries=$(shlibs "$root/usr/bin/everywatt" "$root/usr/lib/everywatt/everywatt-player" \
  "$root/usr/lib/everywatt/libnvidia-ml-sim.so")
[[ -n $libraries ]]
size=$(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)
sed -e "s/@VERSION@/$version/" -e "s/@LIBRARIES@/$libraries/" -e "s/@SIZE@/$size/" \
  tools/package/debian/control >"$root/DEBIAN/control"
echo /etc/everywatt/everywatt.toml >"$root/DEBIAN/conffiles"
install -m 0755 tools/package/debian/{postinst,prerm,postrm} "$root/DEBIAN/"
(cd "$root" && find etc usr -type f ! -path etc/everywatt/everywatt.toml -print0 | sort -z |
  xargs -0 md5sum) >"$root/DEBIAN/md5sums"
find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$root" "$output/everywatt_${version}_amd64.deb" >&2
rm -rf "$root"
