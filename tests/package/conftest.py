# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import program
import pytest

TOOLS = program.SOURCE / "tools/package"


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """The tree of installed files and all that ./dev package makes of it, from the build under test."""
    output = tmp_path_factory.mktemp("packages")
    output.chmod(0o755)
    tree = output / "tree"
    env = os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}

    def make(tool: str, *arguments) -> None:
        command = [TOOLS / tool, *arguments]
        result = subprocess.run(command, cwd=program.SOURCE, env=env, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr

    make("tree.sh", program.BUILD, tree)
    for tool in ("tarball.sh", "deb.sh", "image.py"):
        make(tool, tree, output)
    (deb,), (tarball,), (image,) = (output.glob(f"*{end}") for end in (".deb", ".tar.gz", "-oci.tar"))
    version = program.run("--version").stdout.split()[1]
    return SimpleNamespace(tree=tree, deb=deb, tarball=tarball, image=image, version=version)


@pytest.fixture
def serve_in(folder):
    """Starts the daemon of a root file system or a folder, by a command, on a free port."""
    daemons = []
    whole = program.PROGRAM

    def start(command: Path, *arguments):
        program.PROGRAM = str(command)
        try:
            daemons.append(program.Daemon(folder, *arguments))
        finally:
            program.PROGRAM = whole
        return daemons[-1]

    yield start
    for daemon in daemons:
        daemon.kill()


def write_chroot_command(path: Path, root: Path) -> Path:
    """A program that is /usr/bin/everywatt of that root, in mounts that end with it. It sees the
    machine's shared memory, where the test's run folder is."""
    path.write_text(
        "#!/bin/sh\n"
        "exec unshare --mount --propagation private sh -c '\n"
        f"mount -t proc proc {root}/proc && mkdir -p {root}/dev/shm &&\n"
        f"mount --rbind /dev/shm {root}/dev/shm && exec chroot {root} /usr/bin/everywatt \"$@\"' - \"$@\"\n"
    )
    path.chmod(0o755)
    return path


@pytest.fixture
def chroot_command(tmp_path):
    return lambda root: write_chroot_command(tmp_path / "everywatt-in-root", root)
