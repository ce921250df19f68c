# SPDX-License-Identifier: Apache-2.0
"""The ways into ./dev that neither install nor build anything."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command, stdin=""):
    return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "arguments",
    [[], ["tidy"], ["build", "fast"], ["test", "--everything"], ["lint", "src"], ["bench", "--x"],
     ["format", "src"]],
)
def test_an_unknown_word_shows_the_usage_and_exits_2(arguments):
    result = run("./dev", *arguments)
    assert result.returncode == 2
    assert "usage: ./dev" in result.stderr


def test_an_environment_that_could_not_be_made_is_not_taken_for_one(tmp_path):
    (tmp_path / "build").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/requirements.txt").write_text("--no-such-option\n")
    script = f"source '{ROOT}/tools/dev/common.sh'; need_venv || exit 7"
    bash = ["bash", "-euo", "pipefail", "-c", script]
    result = subprocess.run(bash, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert result.returncode == 7
    assert not (tmp_path / "build/venv/requirements.txt").exists()


def test_a_fuzzer_needs_whole_minutes():
    assert run("./dev", "fuzz", "--minutes", "soon").returncode == 2


def test_a_fuzzer_that_there_is_not_is_answered_with_those_that_there_are():
    result = run("./dev", "fuzz", "readers")
    assert result.returncode == 2
    assert "no fuzzer readers: there are " in result.stderr


def test_every_fuzzer_starts_from_something():
    names = {file.name.removesuffix("_fuzz.cc") for file in ROOT.glob("src/**/*_fuzz.cc")}
    assert {folder.name for folder in (ROOT / "tests/corpus").iterdir()} == names
    for name in names:
        assert 0 < sum(file.stat().st_size for file in (ROOT / "tests/corpus" / name).iterdir()) < 50_000


def test_a_pattern_that_only_some_runners_would_understand_is_refused():
    result = run("./dev", "test", "Reader*")
    assert result.returncode == 2
    assert "PATTERN is a part of a test's name" in result.stderr


def test_help_names_every_command():
    text = run("./dev", "--help").stdout
    commands = {file.stem for file in (ROOT / "tools/dev").glob("*.sh")} - {"common"}
    assert all(f"\n  {command} " in text for command in commands)


def test_a_source_in_no_target_is_named(tmp_path):
    commands = tmp_path / "compile_commands.json"
    commands.write_text(json.dumps([{"directory": str(ROOT), "file": "src/base/text.cc"}]))
    result = run("tools/check_wired.py", commands, stdin="src/base/text.cc\n")
    assert (result.returncode, result.stdout) == (0, "")
    result = run("tools/check_wired.py", commands, stdin="src/base/text_test.cc\n")
    assert (result.returncode, result.stdout) == (
        1,
        "src/base/text_test.cc: no CMake target compiles it\n",
    )
