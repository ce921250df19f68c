# SPDX-License-Identifier: Apache-2.0
"""Runs the program under test, and talks to its daemon."""

import json
import os
import pwd
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

SOURCE = Path(os.environ.get("EVERYWATT_SOURCE_DIR", Path(__file__).resolve().parents[2]))
BUILD = Path(os.environ.get("EVERYWATT_BUILD_DIR", SOURCE / "build/release"))
PROGRAM = os.environ.get("EVERYWATT_BIN", str(BUILD / "everywatt"))
LIBRARY = BUILD / "libnvidia-ml-sim.so"
PLAYER = BUILD / "everywatt-player"
PATIENCE_S = 20


def environment(**more) -> dict[str, str]:
    """A user's, without what would change the texts or the places."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "EVERYWATT_"))}
    return kept | {"TZ": "UTC"} | more


def run(*arguments, code: int | None = None, env: dict | None = None, **options):
    result = subprocess.run(
        [PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        env=env or environment(),
        **options,
    )
    if code is not None:
        assert result.returncode == code, (arguments, result.stdout[-2000:], result.stderr)
    return result


def run_json(*arguments, code: int = 0):
    return json.loads(run(*arguments, "--json", code=code).stdout)


def server_gid() -> int:
    """That of the user as whom the server of root's daemon runs."""
    for name in ("everywatt", "nobody"):
        try:
            return pwd.getpwnam(name).pw_gid
        except KeyError:
            pass
    return 65534


def wait_until(condition, what, patience_s: float = PATIENCE_S):
    """The first true answer of `condition`; fails when none comes in time, saying `what` (a text, or
    a function that makes one)."""
    deadline = time.monotonic() + patience_s
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"in vain: {what() if callable(what) else what}")
        time.sleep(0.01)


def children_of(pid: int) -> dict[str, int]:
    """The parts of a daemon: name -> pid."""
    found = {}
    try:
        pids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return found
    for child in pids:
        try:
            words = Path(f"/proc/{child}/cmdline").read_bytes().decode().split("\0")
        except OSError:
            continue
        if "part" in words:
            found[words[words.index("part") + 1]] = int(child)
        elif words[0].endswith("everywatt-player"):
            found["player"] = int(child)
    return found


def is_running(pid: int) -> bool:
    """False for one that has ended and only waits to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Daemon:
    """`everywatt serve` on a free port with a run folder of its own."""

    def __init__(self, run_folder: Path, *arguments, env: dict | None = None, **options):
        self.run_folder = run_folder
        self.log = run_folder.parent / f"{run_folder.name}.log"
        defaults = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        # A demo keeps its own.
        if not {"--data-dir", "--demo"} & set(map(str, arguments)):
            defaults += ("--data-dir", str(run_folder / "data"))
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "serve", *defaults, "--run-dir", str(run_folder), *map(str, arguments)],
                stdout=log,
                stderr=log,
                env=env or environment(),
                **options,
            )
        self.url = wait_until(self._find_url, f"the line 'serving' in {self.log}")

    def _find_url(self) -> str | None:
        text = self.log.read_text()
        assert self.process.poll() is None, text
        found = re.search(r"serving (https?://\S+)", text)
        return found[1] if found else None

    def fetch(self, path: str) -> str:
        with urllib.request.urlopen(self.url + path, timeout=10) as answer:
            return answer.read().decode()

    def status(self, path: str) -> int:
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def metrics(self, names: str = "native,dcgm,self") -> dict[str, dict[str, float]]:
        """{name: {gpu: value}} of the series that have no more than one value a GPU."""
        found: dict[str, dict[str, float]] = {}
        for line in self.fetch(f"/metrics?names={names}").splitlines():
            series = re.fullmatch(r'(\w+)\{gpu="(\d+)",[^}]*\} (\S+)', line)
            if series:
                found.setdefault(series[1], {})[series[2]] = float(series[3])
        return found

    def run(self, *arguments, **options):
        return run(*arguments, "--run-dir", self.run_folder, **options)

    def run_json(self, *arguments, code: int = 0):
        return run_json(*arguments, "--run-dir", self.run_folder, code=code)

    def parts(self) -> dict[str, int]:
        return children_of(self.process.pid)

    def stop(self) -> tuple[int, float]:
        """Ends it in good order: exit code and seconds."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout=PATIENCE_S)
        return code, time.monotonic() - begin

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.unlink(missing_ok=True)
