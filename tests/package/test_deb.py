# SPDX-License-Identifier: Apache-2.0
"""The Debian package: what it holds, and its whole life in a system made for it."""

import os
import re
import subprocess
from pathlib import Path

import program
import pytest


def run(*command, **options) -> str:
    result = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=280, **options
    )
    assert result.returncode == 0, (command, result.stdout[-3000:], result.stderr[-3000:])
    return result.stdout


def control(deb, field: str) -> str:
    return run("dpkg-deb", "-f", deb, field).strip()


def test_it_says_what_it_is_and_needs(packages):
    assert control(packages.deb, "Package") == "everywatt"
    assert control(packages.deb, "Version") == packages.version
    assert control(packages.deb, "Architecture") == "amd64"
    needed = control(packages.deb, "Depends")
    assert needed.startswith("libc6 (>= 2.34), libgcc-s1 (>= "), needed
    assert "libssl" not in needed and "libstdc++" not in needed


def test_it_holds_all_that_is_installed(packages):
    listing = run("dpkg-deb", "-c", packages.deb)
    names = set(re.findall(r" \.(/\S*)", listing))
    commands = run(packages.tree / "bin/everywatt", "completions", "bash")
    commands = re.search(r"local commands='([^']+)'", commands)[1].split()
    assert {
        "/etc/everywatt/everywatt.toml",
        "/usr/bin/everywatt",
        "/usr/lib/everywatt/everywatt-player",
        "/usr/lib/everywatt/libnvidia-ml-sim.so",
        "/usr/lib/systemd/system/everywatt.service",
        "/usr/lib/sysusers.d/everywatt.conf",
        "/usr/share/bash-completion/completions/everywatt",
        "/usr/share/doc/everywatt/README.md",
        "/usr/share/doc/everywatt/copyright",
        "/usr/share/everywatt/traces/gemm.gpu.csv.gz",
        "/usr/share/everywatt/scenarios/gpu_lost.toml",
        "/usr/share/fish/vendor_completions.d/everywatt.fish",
        "/usr/share/man/man1/everywatt.1.gz",
        "/usr/share/zsh/vendor-completions/_everywatt",
        *(f"/usr/share/man/man1/everywatt-{name}.1.gz" for name in commands),
    } <= names
    assert " ./usr/bin/dcgm-exporter -> everywatt\n" in listing
    assert all(" root/root " in line for line in listing.splitlines())


def test_the_same_tree_makes_the_same_package(packages, tmp_path):
    again = tmp_path / "again"
    again.mkdir()
    tools = program.SOURCE / "tools/package"
    env = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}
    run(tools / "deb.sh", packages.tree, again, cwd=program.SOURCE, env=env)
    assert (again / packages.deb.name).read_bytes() == packages.deb.read_bytes()


def mirror() -> tuple[str, str]:
    """Where apt gets this release's packages, and the release's name."""
    lines = Path("/etc/os-release").read_text()
    release = re.search(r"^VERSION_CODENAME=(\w+)$", lines, re.MULTILINE)[1]
    form = "$(ORIGIN) $(CODENAME) $(SUITE) $(REPO_URI)"
    targets = run("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    for line in targets.splitlines():
        words = line.split()
        if words[0] in ("Debian", "Ubuntu") and release in words[1:3]:
            return words[-1], release
    raise AssertionError(f"apt has no {release}: {targets}")


@pytest.fixture(scope="module")
def system(tmp_path_factory):
    """A small system of this machine's release. Its devices are its own: nothing of the machine's
    is mounted in it when the command ends."""
    if os.geteuid() != 0:
        pytest.skip("needs root")
    root = tmp_path_factory.mktemp("system") / "root"
    for place in (root.parent, *list(root.parent.parents)[:2]):
        place.chmod(place.stat().st_mode | 0o011)
    address, release = mirror()
    run(
        "unshare", "--mount", "--propagation", "private",
        "debootstrap", "--variant=minbase", "--components=main,universe"
        if "ubuntu" in address else "--components=main",
        "--include=systemd-standalone-sysusers", release, root, address,
    )  # fmt: skip
    return root


def in_system(root, *command) -> str:
    mounts = f"mount -t proc proc {root}/proc && exec chroot {root} \"$@\""
    env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
    return run("unshare", "--mount", "--propagation", "private", "sh", "-c", mounts, "-", *command,
               env=env | {"LC_ALL": "C"})  # fmt: skip


def newer(deb, folder) -> Path:
    """The same package as a later version, with another default configuration."""
    root = folder / "newer"
    run("dpkg-deb", "-R", deb, root)
    control_file = root / "DEBIAN/control"
    text = re.sub(r"(?m)^Version: (.*)$", r"Version: \1+later", control_file.read_text())
    control_file.write_text(text)
    with open(root / "etc/everywatt/everywatt.toml", "a") as file:
        file.write("# later\n")
    path = folder / "newer.deb"
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", root, path)
    return path


def test_it_is_installed_upgraded_removed_and_purged(
    system, packages, tmp_path, chroot_command, serve_in
):
    config = system / "etc/everywatt/everywatt.toml"
    data = system / "var/lib/everywatt"
    (system / "tmp/everywatt.deb").write_bytes(packages.deb.read_bytes())
    in_system(system, "dpkg", "-i", "/tmp/everywatt.deb")
    assert in_system(system, "everywatt", "--version") == f"everywatt {packages.version}\n"
    assert "--collectors" in in_system(system, "dcgm-exporter", "--help")
    assert in_system(system, "id", "-gn", "everywatt").strip() == "everywatt"
    assert data.is_dir()
    assert in_system(system, "everywatt", "check-config").strip()
    enabled = system / "etc/systemd/system/multi-user.target.wants/everywatt.service"
    assert enabled.is_symlink()

    daemon = serve_in(chroot_command(system), "--demo", "gemm")
    program.wait_until(lambda: daemon.status("/readyz") == 200, daemon.log.read_text)
    assert set(daemon.metrics("dcgm")["DCGM_FI_DEV_GPU_UTIL"]) == {"0"}
    assert daemon.stop()[0] == 0

    # An upgrade keeps data and what was changed.
    (data / "marks").write_text("kept")
    config.write_text('[serve]\nlisten = "127.0.0.1:9444"\n')
    (system / "tmp/newer.deb").write_bytes(newer(packages.deb, tmp_path).read_bytes())
    in_system(system, "dpkg", "--force-confdef", "--force-confold", "-i", "/tmp/newer.deb")
    assert "+later" in in_system(system, "dpkg-query", "-W", "-f=${Version}", "everywatt")
    assert "9444" in config.read_text()
    assert (data / "marks").read_text() == "kept"

    in_system(system, "dpkg", "--remove", "everywatt")
    assert not (system / "usr/bin/everywatt").exists()
    assert not (system / "usr/lib/everywatt").exists()
    assert config.is_file() and (data / "marks").read_text() == "kept"

    in_system(system, "dpkg", "--purge", "everywatt")
    assert not config.parent.exists() and not data.exists()
    assert not enabled.is_symlink()
    assert "everywatt" not in in_system(system, "dpkg", "-l")
