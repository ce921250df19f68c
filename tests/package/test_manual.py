# SPDX-License-Identifier: Apache-2.0
"""Pages of the manual and completions, read by the programs that they are for."""

import subprocess

import program
import pytest


def commands() -> list[str]:
    script = program.run("completions", "bash", code=0).stdout
    (line,) = (line for line in script.splitlines() if line.startswith("  local commands="))
    return line.split("'")[1].split()


def show(page, language: str = "C.UTF-8") -> subprocess.CompletedProcess:
    env = program.environment(LC_ALL=language, MANWIDTH="80", MANROFFOPT="-ww")
    command = ["man", "--warnings", "-E", "UTF-8", "-l", page]
    return subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_man_shows_every_page_without_a_warning(tmp_path, language):
    for command in ([], *([name] for name in commands())):
        page = tmp_path / "page.1"
        page.write_text(program.run("manual", *command, "--lang", language, code=0).stdout)
        shown = show(page)
        assert (shown.returncode, shown.stderr) == (0, ""), command
        assert "--lang en|zh" in shown.stdout
        assert "-".join(["everywatt", *command]) in shown.stdout


def test_a_page_of_no_command_is_bad_usage():
    program.run("manual", "dance", code=2)


def complete_in_bash(*words: str) -> list[str]:
    line = " ".join(f"'{word}'" for word in ("everywatt", *words))
    script = (
        f"source <('{program.PROGRAM}' completions bash)\n"
        f"COMP_WORDS=({line}) COMP_CWORD={len(words)}\n"
        "compopt() { echo \"${@: -1}\"; }\n"
        "_everywatt && printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    )
    bash = ["bash", "--noprofile", "--norc", "-eu", "-c", script]
    result = subprocess.run(bash, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    return result.stdout.split()


def test_bash_completes_commands_options_choices_and_metrics():
    assert complete_in_bash("disc") == ["discover"]
    assert complete_in_bash("get", "--g") == ["--gpu"]
    assert complete_in_bash("get", "--lang", "") == ["en", "zh"]
    assert complete_in_bash("--lang", "z") == ["zh"]
    assert "gpu_power_watts" in complete_in_bash("get", "gpu_power_w")
    assert complete_in_bash("notify", "t") == ["test"]
    assert complete_in_bash("serve", "--config", "") == ["default"]
    assert complete_in_bash("serve", "--run-dir", "") == ["dirnames"]


def test_zsh_takes_its_script():
    script = program.run("completions", "zsh", code=0).stdout
    subprocess.run(["zsh", "-f", "-n"], input=script, text=True, check=True, timeout=60)
    loaded = (
        "autoload -Uz compinit && compinit -u -D\n"
        "_arguments() { print -r -- \"$@\" }; _describe() { : }\n" + script
    )
    result = subprocess.run(
        ["zsh", "-f"], input=loaded, capture_output=True, text=True, check=True, timeout=60
    )
    assert result.stderr == ""
    assert "*--run-dir[" in result.stdout


def complete_in_fish(line: str) -> list[str]:
    script = f"'{program.PROGRAM}' completions fish | source; complete -C '{line}'"
    fish = ["fish", "--no-config", "-c", script]
    result = subprocess.run(fish, capture_output=True, text=True, check=True, timeout=60)
    return [found.split("\t")[0] for found in result.stdout.splitlines()]


def test_fish_completes_commands_options_choices_and_metrics():
    assert complete_in_fish("everywatt disc") == ["discover"]
    assert complete_in_fish("everywatt get --gp") == ["--gpu"]
    assert complete_in_fish("everywatt get --lang ") == ["en", "zh"]
    assert "gpu_power_watts" in complete_in_fish("everywatt get gpu_power_w")
