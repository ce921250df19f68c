#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""image.py TREE OUTPUT: everywatt-VERSION-oci.tar, an OCI image layout of one layer.

Beside the tree it holds what the program is linked with and libcurl, as they are on this machine,
each with the copyright file of its package; nothing else, no shell either.
"""

import gzip
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from datetime import datetime, timezone
from pathlib import Path

EPOCH = int(os.environ["SOURCE_DATE_EPOCH"])
LIBRARIES = "usr/lib/x86_64-linux-gnu"
LINKS = {"bin": "usr/bin", "lib": "usr/lib", "lib64": "usr/lib64"}
FOLDERS = {"etc/everywatt": 0o755, "run": 0o755, "tmp": 0o1777, "var/lib/everywatt": 0o755,
           "dev": 0o755, "proc": 0o755, "sys": 0o755, "root": 0o700}  # fmt: skip
TEXTS = {
    "etc/passwd": "root:x:0:0:root:/root:/sbin/nologin\n"
    "everywatt:x:999:999:Everywatt:/var/lib/everywatt:/sbin/nologin\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n",
    "etc/group": "root:x:0:\neverywatt:x:999:\nnogroup:x:65534:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def output_of(*command) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def find_libcurl() -> str:
    found = re.search(r"libcurl\.so\.4 \(libc6,x86-64\) => (\S+)", output_of("/sbin/ldconfig", "-p"))
    if not found:
        sys.exit("libcurl.so.4 is not on this machine")
    return found[1]


def needed_by(files: list[str]) -> set[str]:
    """The libraries that they load, and the loader, by their paths."""
    found = set()
    for file in files:
        found |= set(re.findall(r"(/\S+) \(0x", output_of("ldd", file)))
    return found


def package_of(file: str) -> str:
    """The name of the package that a library came with; it may know the file below /lib alone."""
    real = os.path.realpath(file)
    for path in (real, real.removeprefix("/usr")):
        result = subprocess.run(["dpkg", "-S", path], capture_output=True, text=True)
        if result.returncode == 0:
            return result.stdout.split(":")[0]
    sys.exit(f"{file}: no package has it")


class Layer:
    """A root file system as a tar that is the same whenever it is made."""

    def __init__(self):
        self.entries: dict[str, tuple[tarfile.TarInfo, bytes]] = {}

    def add(self, name: str, kind: bytes, mode: int, content: bytes = b"", target: str = "") -> None:
        if name in self.entries:
            return
        parent = os.path.dirname(name)
        if parent:
            self.add(parent, tarfile.DIRTYPE, 0o755)
        entry = tarfile.TarInfo(name)
        entry.type, entry.mode, entry.mtime = kind, mode, EPOCH
        entry.size, entry.linkname = len(content), target
        entry.uname = entry.gname = ""
        self.entries[name] = (entry, content)

    def add_file(self, name: str, path: Path) -> None:
        mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
        self.add(name, tarfile.REGTYPE, mode, path.read_bytes())

    def add_tree(self, prefix: str, tree: Path) -> None:
        for path in tree.rglob("*"):
            name = f"{prefix}/{path.relative_to(tree)}"
            if path.is_symlink():
                self.add(name, tarfile.SYMTYPE, 0o777, target=os.readlink(path))
            elif path.is_file():
                self.add_file(name, path)

    def tar(self) -> bytes:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for name in sorted(self.entries):
                entry, content = self.entries[name]
                tar.addfile(entry, io.BytesIO(content))
        return buffer.getvalue()


def root_file_system(tree: Path) -> bytes:
    layer = Layer()
    for name, target in LINKS.items():
        layer.add(name, tarfile.SYMTYPE, 0o777, target=target)
    for name, mode in FOLDERS.items():
        layer.add(name, tarfile.DIRTYPE, mode)
    for name, text in TEXTS.items():
        layer.add(name, tarfile.REGTYPE, 0o644, text.encode())
    layer.add_file(str(CERTIFICATES)[1:], CERTIFICATES)
    # The manual and the completions are of no use without a shell.
    for folder in ("bin", "lib", "share/everywatt", "share/doc"):
        layer.add_tree(f"usr/{folder}", tree / folder)
    layer.add_file("etc/everywatt/everywatt.toml", tree / "share/everywatt/everywatt.toml")
    curl = find_libcurl()
    ours = ["bin/everywatt", "lib/everywatt/everywatt-player", "lib/everywatt/libnvidia-ml-sim.so"]
    libraries = {curl} | needed_by([*(str(tree / file) for file in ours), curl])
    packages = {"ca-certificates"}
    for library in sorted(libraries):
        file = Path(library)
        folder = "usr/lib64" if file.name.startswith("ld-linux") else LIBRARIES
        layer.add_file(f"{folder}/{file.name}", file)
        packages.add(package_of(library))
    for package in sorted(packages):
        notice = Path(f"/usr/share/doc/{package}/copyright")
        layer.add_file(str(notice)[1:], notice)
    return layer.tar()


def image_config(version: str, diff_id: str) -> dict:
    created = datetime.fromtimestamp(EPOCH, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "Entrypoint": ["/usr/bin/everywatt"],
            "Cmd": ["serve", "--listen", "0.0.0.0:9400"],
            "Env": [
                "PATH=/usr/bin",
                "NVIDIA_VISIBLE_DEVICES=all",
                "NVIDIA_DRIVER_CAPABILITIES=utility",
            ],
            "ExposedPorts": {"9400/tcp": {}},
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            "Labels": {
                "org.opencontainers.image.title": "everywatt",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "history": [{"created": created, "created_by": "./dev package"}],
    }


class Layout:
    """The files of an image layout."""

    def __init__(self):
        self.files: dict[str, bytes] = {}

    def add_blob(self, media_type: str, content: bytes) -> dict:
        digest = hashlib.sha256(content).hexdigest()
        self.files[f"blobs/sha256/{digest}"] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def write(self, path: Path) -> None:
        layer = Layer()
        for name, content in self.files.items():
            layer.add(name, tarfile.REGTYPE, 0o644, content)
        path.write_bytes(layer.tar())


def to_json(value: dict) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def main() -> None:
    tree, output = map(Path, sys.argv[1:])
    version = output_of(tree / "bin/everywatt", "--version").split()[1]
    tar = root_file_system(tree)
    kind = "application/vnd.oci.image."
    layout = Layout()
    layer = layout.add_blob(f"{kind}layer.v1.tar+gzip", gzip.compress(tar, 9, mtime=0))
    diff_id = f"sha256:{hashlib.sha256(tar).hexdigest()}"
    config = layout.add_blob(f"{kind}config.v1+json", to_json(image_config(version, diff_id)))
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{kind}manifest.v1+json",
        "config": config,
        "layers": [layer],
    }
    entry = layout.add_blob(manifest["mediaType"], to_json(manifest))
    entry["platform"] = {"architecture": "amd64", "os": "linux"}
    entry["annotations"] = {"org.opencontainers.image.ref.name": version}
    index = {"schemaVersion": 2, "mediaType": f"{kind}index.v1+json", "manifests": [entry]}
    layout.files["index.json"] = to_json(index)
    layout.files["oci-layout"] = to_json({"imageLayoutVersion": "1.0.0"})
    layout.write(output / f"everywatt-{version}-oci.tar")


if __name__ == "__main__":
    main()
