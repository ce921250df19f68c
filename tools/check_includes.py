#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fails on an #include that the table of rooms in docs/architecture.md does not allow.

What the table says is all there is, with four additions: every room above them may use base and
catalog; `NVML ABI header` means device/nvml/abi*.h; a room whose cell says `(readers)` may not
include the recorder's writer; and a room's tests, benchmarks and fuzzers, which build what they
need, may include any room. What is allowed is not passed on: a room that may include `view` may not
include the recorder for that.

Headers of heavy libraries belong in .cc files, where they cost their compile time once; a header of
ours that a single .cc file includes costs it once too.
"""

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

COMMON = {"base": set(), "catalog": {"base"}}
HEAVY = re.compile(r"(boost|nlohmann|CLI|toml\+\+|protozero)/")
NOT_ROOMS = {"std", "OS", "NVML ABI header"}
TEST = re.compile(r"(_test|_bench|_fuzz)\.cc$|(^|/)fake_\w+\.(h|cc)$|_fixture\.(h|cc)$")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


@dataclass
class Room:
    name: str
    allowed: set[str] = field(default_factory=set)
    may_include_all: bool = False
    may_include_abi: bool = False
    may_write: bool = True


def table_rows(text: str) -> list[tuple[list[str], str]]:
    """Room names and the third cell of each row of the table headed `| room ... | may include |`."""
    rows = []
    in_table = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            in_table = False
        elif len(cells) == 3 and cells[0].startswith("room") and cells[2] == "may include":
            in_table = True
        elif in_table and len(cells) != 3:
            raise ValueError(f"the table of rooms has a row of {len(cells)} cells: {line}")
        elif in_table and not set(cells[0]) <= set("-: "):
            rows.append(([name.strip("/") for name in re.findall(r"`([^`]+)`", cells[0])], cells[2]))
    return rows


def resolve(word: str, names: list[str]) -> set[str]:
    """The rooms that a word of the third cell means: a path, its last part, or `read/*`."""
    folder = re.fullmatch(r"(?:everything in )?(\w+)/\*?", word)
    if folder:
        return {name for name in names if name.startswith(folder[1] + "/")}
    found = {name for name in names if word in (name, name.rsplit("/", 1)[-1])}
    if len(found) != 1:
        raise ValueError(f"the table of rooms says '{word}', which is not one room")
    return found


def parse_rooms(text: str) -> dict[str, Room]:
    rows = table_rows(text)
    names = [name for row_names, _ in rows for name in row_names]
    if not names:
        raise ValueError("docs/architecture.md has no table of rooms")
    rooms = {}
    for row_names, cell in rows:
        room = Room(row_names[0])
        room.may_write = not re.search(r"\((R|r)eaders?\)", cell)
        for word in re.split(r",| and ", re.sub(r"\([^)]*\)", "", cell)):
            word = word.strip().strip("`")
            if word == "everything":
                room.may_include_all = True
            elif word == "NVML ABI header":
                room.may_include_abi = True
            elif word and word not in NOT_ROOMS:
                room.allowed |= resolve(word, names)
        room.allowed |= COMMON.get(room.name, set(COMMON))
        for name in row_names:
            rooms[name] = room
    return rooms


# The journal has one writer, the server: marks come to it from outside.
JOURNAL = re.compile(r"serve/web/journal\.(h|cc)")


def room_of(path: str, rooms: dict[str, Room]) -> str | None:
    parts = path.split("/")[:-1]
    return next((name for n in (2, 1) if (name := "/".join(parts[:n])) in rooms), None)


def fault(path: str, included: str, rooms: dict[str, Room]) -> str | None:
    """Why the file (path below src/) may not include that path below src/, or None."""
    if TEST.search(path):
        return None
    home, target = room_of(path, rooms), room_of(included, rooms)
    if home is None:
        return "is in no room of docs/architecture.md"
    if target is None:
        return f"includes {included}, which is in no room (paths begin at src/)"
    room = rooms[home]
    if room.may_include_all or rooms[target] is room:
        return None
    if room.may_include_abi and re.fullmatch(r"device/nvml/abi\w*\.h", included):
        return None
    if target not in room.allowed:
        return f"includes {included}: {home} may not include {target}"
    if JOURNAL.fullmatch(path):
        return None
    if not room.may_write and re.match(r"record/recorder/\w*writer", included):
        return f"includes {included}: {home} only reads"
    return None


def headers_of_one_source(texts: dict[str, str]) -> set[str]:
    """The headers that one .cc file includes, and nobody else."""
    includers: dict[str, list[str]] = {}
    for path, text in texts.items():
        for quoted, _ in INCLUDE.findall(text):
            includers.setdefault(quoted, []).append(path)
    return {
        header for header, by in includers.items() if len(by) == 1 and by[0].endswith(".cc")
    }


def check_file(
    path: str, text: str, rooms: dict[str, Room], may_be_heavy: set[str] = frozenset()
) -> list[str]:
    faults = []
    for quoted, angled in INCLUDE.findall(text):
        found = fault(path, quoted, rooms) if quoted else None
        if found:
            faults.append(f"src/{path}: {found}")
        light = not path.endswith(".cc") and path not in may_be_heavy
        if light and HEAVY.match(quoted or angled):
            faults.append(f"src/{path}: includes {quoted or angled}, which belongs in a .cc file")
    return faults


def main() -> int:
    root = Path(__file__).resolve().parent.parent
    try:
        rooms = parse_rooms((root / "docs/architecture.md").read_text())
    except (OSError, ValueError) as error:
        print(error)
        return 1
    texts = {
        str(file.relative_to(root / "src")): file.read_text()
        for file in sorted((root / "src").rglob("*"))
        if file.suffix in (".h", ".cc", ".inc")
    }
    may_be_heavy = headers_of_one_source(texts)
    faults = []
    for path, text in texts.items():
        faults += check_file(path, text, rooms, may_be_heavy)
    print(*faults, sep="\n", end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
