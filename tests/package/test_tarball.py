# SPDX-License-Identifier: Apache-2.0
"""The tarball, in a folder of its own, and what it asks of the machine."""

import re
import subprocess
import tarfile

import program
import pytest

OLDEST_GLIBC = (2, 34)
SYSTEM = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


@pytest.fixture
def unpacked(packages, tmp_path):
    with tarfile.open(packages.tarball) as tar:
        names = tar.getnames()
        tar.extractall(tmp_path)
    assert {name.split("/")[0] for name in names} == {f"everywatt-{packages.version}"}
    # The server becomes another user, who must get here.
    for place in (tmp_path, *list(tmp_path.parents)[:2]):
        place.chmod(place.stat().st_mode | 0o011)
    return tmp_path / f"everywatt-{packages.version}"


def objdump(option: str, file) -> str:
    return subprocess.run(["objdump", option, file], capture_output=True, text=True, check=True).stdout


def binaries(tree):
    return [tree / "bin/everywatt", *sorted(tree.glob("lib/everywatt/*"))]


def test_no_symbol_is_newer_than_the_oldest_glibc(packages):
    for file in binaries(packages.tree):
        found = re.findall(r"\(?GLIBC_(\d+)\.(\d+)", objdump("-T", file))
        assert found, file
        assert max((int(major), int(minor)) for major, minor in found) <= OLDEST_GLIBC, file


def test_nothing_but_glibc_and_libgcc_is_needed(packages):
    for file in binaries(packages.tree):
        assert set(re.findall(r"NEEDED\s+(\S+)", objdump("-p", file))) <= SYSTEM, file


def test_what_is_linked_in_is_kept_inside(packages):
    """Else libcurl's OpenSSL, loaded later, would take ours."""
    for file in binaries(packages.tree):
        names = re.findall(r"^[0-9a-f]+ g .*\s(\S+)$", objdump("-T", file), re.MULTILINE)
        assert [name for name in names if re.match(r"(SSL_|EVP_|deflate|_ZNSt|arc4)", name)] == []


def test_it_is_stripped(packages):
    for file in binaries(packages.tree):
        assert ".debug_" not in objdump("-h", file) and ".symtab" not in objdump("-h", file)


def test_it_runs_in_any_folder(unpacked, packages, serve_in):
    program_file = unpacked / "bin/everywatt"
    said = subprocess.run([program_file, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"everywatt {packages.version}\n"
    daemon = serve_in(program_file, "--demo", "gemm,fed")
    program.wait_until(lambda: daemon.status("/readyz") == 200, daemon.log.read_text)
    assert set(daemon.metrics("dcgm")["DCGM_FI_DEV_GPU_UTIL"]) == {"0", "1"}


def test_its_scenarios_find_their_traces(unpacked, serve_in):
    daemon = serve_in(unpacked / "bin/everywatt", "--demo", "scenario:gpu_lost")
    program.wait_until(lambda: daemon.status("/readyz") == 200, daemon.log.read_text)


def test_the_other_name_is_the_other_program(unpacked):
    said = subprocess.run(
        [unpacked / "bin/dcgm-exporter", "--help"], capture_output=True, text=True, check=True
    )
    assert "--collectors" in said.stdout


def test_the_licences_go_with_it(unpacked):
    doc = unpacked / "share/doc/everywatt"
    assert (doc / "LICENSE").is_file() and (doc / "licenses/LGPL-2.1.txt").is_file()
    assert "OpenSSL" in (doc / "THIRD_PARTY_NOTICES.md").read_text()
