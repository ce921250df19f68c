# SPDX-License-Identifier: Apache-2.0
import importlib.util
import sys
from pathlib import Path

CLI = Path(__file__).resolve().parent.parent / "cli"
sys.path.insert(0, str(CLI))

_spec = importlib.util.spec_from_file_location("cli_conftest", CLI / "conftest.py")
_cli = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_cli)
# The daemons are those of the commands' tests.
memory_folder, serve = _cli.memory_folder, _cli.serve
