# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
# The traces and the playhead, as the simulation's tests know them.
sys.path.insert(0, str(HERE.parent / "sim"))
# Prometheus' own tool.
sys.path.insert(0, str(HERE.parent / "export"))

import program  # noqa: E402


@pytest.fixture(scope="session")
def recordings(tmp_path_factory):
    """Imports a trace at its first use; `recordings(name)` is the file."""
    folder = tmp_path_factory.mktemp("recordings")

    def recording(name: str, profile: str = "h200") -> Path:
        path = folder / f"{name}.{profile}.rec"
        if not path.exists():
            stem = program.SOURCE / "traces" / name
            program.run("import", stem, "--output", path, "--profile", profile, code=0)
        return path

    return recording


@pytest.fixture
def memory_folder():
    """A folder of shared memory, as a run folder is."""
    folder = Path(tempfile.mkdtemp(prefix="everywatt-test-", dir="/dev/shm"))
    folder.chmod(0o755)
    yield folder
    # The daemon's doors for orders and its log lie beside its run folder.
    for path in (folder, folder.with_name(folder.name + "-control")):
        shutil.rmtree(path, ignore_errors=True)
    folder.with_name(folder.name + ".log").unlink(missing_ok=True)


@pytest.fixture
def serve(memory_folder):
    """Starts daemons on free ports; ends those that the test leaves behind."""
    daemons = []

    def start(*arguments, **options):
        daemon = program.Daemon(memory_folder, *arguments, **options)
        daemons.append(daemon)
        return daemon

    yield start
    for daemon in daemons:
        daemon.kill()


@pytest.fixture
def needs_root():
    if os.geteuid() != 0:
        pytest.skip("needs root")
