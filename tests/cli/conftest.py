# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import pytest

# Prometheus' own tool.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "export"))

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
