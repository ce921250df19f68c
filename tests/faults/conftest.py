# SPDX-License-Identifier: Apache-2.0
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "cli", HERE.parent / "sim"):
    sys.path.insert(0, str(folder))

from faulty import FaultyMachine  # noqa: E402


@pytest.fixture
def folder():
    """A folder of shared memory, as a run folder is."""
    path = Path(tempfile.mkdtemp(prefix="everywatt-test-", dir="/dev/shm"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def machine(folder):
    """Makes machines in which a scenario's faults happen when the test says so."""
    made = []

    def make(demo: str, *sections: str, **options) -> FaultyMachine:
        made.append(FaultyMachine(folder / f"machine{len(made)}", demo, sections, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
