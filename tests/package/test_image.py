# SPDX-License-Identifier: Apache-2.0
"""The image, by the rules of the OCI image specification 1.1, and its entry point in its root."""

import gzip
import hashlib
import io
import json
import re
import subprocess
import tarfile
from datetime import datetime

import jsonschema
import program
import pytest

KIND = "application/vnd.oci.image."
DIGEST = {"type": "string", "pattern": "^sha256:[a-f0-9]{64}$"}
STRINGS = {"type": "array", "items": {"type": "string"}}


def descriptor(media_type: str) -> dict:
    return {
        "type": "object",
        "required": ["mediaType", "digest", "size"],
        "properties": {
            "mediaType": {"const": media_type},
            "digest": DIGEST,
            "size": {"type": "integer", "minimum": 0},
            "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
            "platform": {
                "type": "object",
                "required": ["architecture", "os"],
                "properties": {"architecture": {"type": "string"}, "os": {"type": "string"}},
            },
        },
        "additionalProperties": False,
    }


def document(**properties) -> dict:
    return {
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "additionalProperties": False,
    }


INDEX = document(
    schemaVersion={"const": 2},
    mediaType={"const": f"{KIND}index.v1+json"},
    manifests={"type": "array", "items": descriptor(f"{KIND}manifest.v1+json"), "minItems": 1},
)
MANIFEST = document(
    schemaVersion={"const": 2},
    mediaType={"const": f"{KIND}manifest.v1+json"},
    config=descriptor(f"{KIND}config.v1+json"),
    layers={"type": "array", "items": descriptor(f"{KIND}layer.v1.tar+gzip"), "minItems": 1},
)
CONFIG = document(
    created={"type": "string"},
    architecture={"const": "amd64"},
    os={"const": "linux"},
    config=document(
        Entrypoint=STRINGS,
        Cmd=STRINGS,
        Env={"type": "array", "items": {"type": "string", "pattern": "^[A-Z_]+=.*$"}},
        ExposedPorts={"type": "object", "patternProperties": {"^[0-9]+/(tcp|udp)$": {"const": {}}}},
        WorkingDir={"type": "string", "pattern": "^/"},
        StopSignal={"type": "string", "pattern": "^SIG[A-Z]+$"},
        Labels={"type": "object", "additionalProperties": {"type": "string"}},
    ),
    rootfs=document(type={"const": "layers"}, diff_ids={"type": "array", "items": DIGEST}),
    history={"type": "array", "items": {"type": "object"}},
)


class Image:
    def __init__(self, path):
        with tarfile.open(path) as tar:
            self.files = {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}

    def blob(self, entry: dict) -> bytes:
        content = self.files["blobs/sha256/" + entry["digest"].removeprefix("sha256:")]
        assert len(content) == entry["size"]
        assert hashlib.sha256(content).hexdigest() == entry["digest"].removeprefix("sha256:")
        return content

    def json(self, entry: dict) -> dict:
        return json.loads(self.blob(entry))


@pytest.fixture(scope="module")
def image(packages):
    image = Image(packages.image)
    image.index = json.loads(image.files["index.json"])
    (image.entry,) = image.index["manifests"]
    image.manifest = image.json(image.entry)
    image.config = image.json(image.manifest["config"])
    (image.layer,) = (gzip.decompress(image.blob(layer)) for layer in image.manifest["layers"])
    return image


def test_the_layout_is_as_specified(image, packages):
    assert json.loads(image.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    jsonschema.validate(image.index, INDEX)
    jsonschema.validate(image.manifest, MANIFEST)
    jsonschema.validate(image.config, CONFIG)
    datetime.strptime(image.config["created"], "%Y-%m-%dT%H:%M:%SZ")
    assert image.entry["annotations"] == {"org.opencontainers.image.ref.name": packages.version}
    digest = hashlib.sha256(image.layer).hexdigest()
    assert image.config["rootfs"]["diff_ids"] == [f"sha256:{digest}"]
    # Nothing that no descriptor speaks of.
    blobs = {name for name in image.files if name.startswith("blobs/")}
    assert len(blobs) == 2 + len(image.manifest["layers"])


def test_it_serves_beyond_loopback_unless_told_otherwise(image):
    started = image.config["config"]["Entrypoint"] + image.config["config"]["Cmd"]
    assert started == ["/usr/bin/everywatt", "serve", "--listen", "0.0.0.0:9400"]


def test_each_name_is_there_once_after_its_folder(image):
    with tarfile.open(fileobj=io.BytesIO(image.layer)) as tar:
        members = tar.getmembers()
    seen = set()
    for member in members:
        assert member.name not in seen and not re.search(r"(^/|\.\.|\.wh\.)", member.name)
        assert "/" not in member.name or member.name.rsplit("/", 1)[0] in seen
        assert (member.uid, member.gid) == (0, 0)
        seen.add(member.name)
    assert not any(re.search(r"bin/(ba|da)?sh$", name) for name in seen)
    assert {"usr/share/doc/libc6/copyright", "usr/share/doc/ca-certificates/copyright"} <= seen


@pytest.fixture
def root(image, tmp_path, needs_root):
    place = tmp_path / "root"
    with tarfile.open(fileobj=io.BytesIO(image.layer)) as tar:
        tar.extractall(place)
    for folder in (tmp_path, *list(tmp_path.parents)[:2]):
        folder.chmod(folder.stat().st_mode | 0o011)
    return place


def test_its_program_plays_the_demo_in_its_root(root, chroot_command, serve_in):
    daemon = serve_in(chroot_command(root), "--demo", "gemm,fed")
    program.wait_until(lambda: daemon.status("/readyz") == 200, daemon.log.read_text)
    assert set(daemon.metrics("native")["gpu_power_watts"]) == {"0", "1"}


def test_what_sends_finds_libcurl_in_its_root(root):
    libraries = {file.name for file in (root / "usr/lib/x86_64-linux-gnu").iterdir()}
    assert {"libcurl.so.4", "libgcc_s.so.1", "libc.so.6", "libm.so.6"} <= libraries
    loader = ["chroot", root, "/lib64/ld-linux-x86-64.so.2"]
    listed = subprocess.run(
        [*loader, "--list", "/usr/lib/x86_64-linux-gnu/libcurl.so.4"], capture_output=True, text=True
    )
    assert listed.returncode == 0 and "not found" not in listed.stdout, listed.stdout + listed.stderr
