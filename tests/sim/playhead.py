# SPDX-License-Identifier: Apache-2.0
"""The shared file that says which moment a simulation plays; src/device/sim/playhead.h has its layout."""

import mmap
import os
import struct
import time
from pathlib import Path

_MODE, _POSITION, _ORIGIN, _RATE, _WALL, _FUNCTIONS = 8, 16, 24, 32, 40, 48
_FAULTS, _MAX_FAULTS = 64, 64
_COUNTS, _COUNT_SIZE, _NAME_SIZE = 576, 64, 56


class Playhead:
    """Steps a simulation and counts the calls that the simulated driver got, in all processes."""

    def __init__(self, path: str | os.PathLike):
        self.path = Path(path)
        with open(self.path, "r+b") as file:
            self._map = mmap.mmap(file.fileno(), 0)
        if self._map[:8] != b"EWPLAY1\0":
            raise ValueError(f"{path}: not a playhead")

    def _read(self, offset: int) -> int:
        return struct.unpack_from("<q", self._map, offset)[0]

    def _write(self, offset: int, value: int) -> None:
        struct.pack_into("<q", self._map, offset, value)

    def step_to(self, played_ms: float) -> None:
        """Stepped mode from here on, at this played time."""
        self._write(_POSITION, round(played_ms * 1e6))
        self._write(_MODE, 0)

    def step_by(self, ms: float) -> None:
        self.step_to(self.played_ms + ms)

    def run(self, rate: float = 1.0) -> None:
        """Real time from here on, from the moment that is shown now."""
        played_ns = self.played_ns
        self._write(_RATE, round(rate * 1e6))
        self._write(_ORIGIN, time.clock_gettime_ns(time.CLOCK_BOOTTIME) - round(played_ns / rate))
        self._write(_MODE, 1)

    @property
    def played_ns(self) -> int:
        if self._read(_MODE) == 0:
            return self._read(_POSITION)
        elapsed = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - self._read(_ORIGIN)
        return elapsed * self._read(_RATE) // 1_000_000

    @property
    def played_ms(self) -> float:
        return self.played_ns / 1e6

    def stamp_us(self, played_ms: float) -> int:
        """The driver's wall clock stamp of a played time."""
        return (self._read(_WALL) + round(played_ms * 1e6)) // 1000

    def set_wall_ns(self, wall_ns: int) -> None:
        """Steps the wall clock of the driver's stamps: wall_ns is that of played time 0."""
        self._write(_WALL, wall_ns)

    def calls(self) -> dict[str, int]:
        """How often each function was called; those that never were are left out."""
        counted = {}
        for i in range(self._read(_FUNCTIONS)):
            at = _COUNTS + i * _COUNT_SIZE
            number = self._read(at + _NAME_SIZE)
            if number:
                counted[self._map[at : at + _NAME_SIZE].rstrip(b"\0").decode()] = number
        return counted

    def faults_fired(self) -> list[int]:
        """How often each fault of the scenario has fired, in its order."""
        return [self._read(_FAULTS + 8 * i) for i in range(_MAX_FAULTS)]

    def wait_for_root(self, root: str | os.PathLike, seconds: float = 5) -> None:
        """Waits until a player has written the fake host root for the moment that is shown."""
        wanted = self.played_ns
        deadline = time.monotonic() + seconds
        file = Path(root) / "played-ns"
        while True:
            try:
                if int(file.read_text()) == wanted:
                    return
            except (FileNotFoundError, ValueError):
                pass
            if time.monotonic() > deadline:
                raise TimeoutError(f"{file}: not at {wanted}")
            time.sleep(0.005)


def main() -> None:
    import argparse

    parser = argparse.ArgumentParser(description="Steps a simulation, or tells what it was asked.")
    parser.add_argument("file")
    parser.add_argument("--to", type=float, metavar="MS", help="step to this played time")
    parser.add_argument("--calls", action="store_true", help="print the counts of calls")
    arguments = parser.parse_args()
    playhead = Playhead(arguments.file)
    if arguments.to is not None:
        playhead.step_to(arguments.to)
    if arguments.calls:
        for name, number in playhead.calls().items():
            print(number, name)
    if arguments.to is None and not arguments.calls:
        print(f"{playhead.played_ms:.3f}")


if __name__ == "__main__":
    main()
