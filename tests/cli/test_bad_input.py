# SPDX-License-Identifier: Apache-2.0
"""Wrong input: the exit code, and exactly one line that says what, where and what to do."""

import gzip
import os
import shutil
import subprocess

import pytest
from program import PROGRAM, SOURCE, environment, run

USAGE = [
    (["gett"], "unknown command 'gett'; did you mean 'get'?"),
    (["--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
    (["get", "203", "--gpuu", "1"], "get: unknown option '--gpuu'; did you mean '--gpu'?"),
    (["get"], "get: METRIC is missing"),
    (["get", "203", "--gpu"], "get: --gpu needs a value"),
    (["history", "203", "--since", "ever"], "'ever' is not a duration"),
    (["free", "-n", "many"], "'many' is not a whole number"),
    (["free", "--memory", "lots"], "'lots' is not a size"),
    (["get", "203", "--lang", "de"], "'de' is neither en nor zh"),
    (["import", "x"], "import: --output is missing"),
    (["import", "nowhere/x", "--output", "y"], "no trace 'nowhere/x'"),
    (["part", "sampler", "x=1"], "unknown word 'x=1'"),
    (["serve", "--set", "lanes.slow=5"], "--set: unknown key 'lanes.slow'"),
    (["serve", "--set", "lanes.slow_seconds=0"], "lanes.slow_seconds = 0 is outside"),
    (["serve", "--set", "nonsense"], "'nonsense' is not key=value"),
    (["serve", "--set", "lanes=5"], "--set: 'lanes' is a section with keys of its own"),
    (["serve", "--listen", "9400"], "everywatt: --listen: '9400' is not ADDRESS:PORT"),
    (["serve", "--run-dir", "/x\udcff"], "everywatt: --run-dir: '/x\ufffd' is no UTF-8 text"),
    (["serve", "--demo", "gemm", "--replay", "x"], "--demo and --replay exclude each other"),
    (["--", "gett"], "unknown command 'gett'"),
    (["serve", "--listen", "localhos:80"], "'localhos:80' is not ADDRESS:PORT"),
    (["serve", "--listen", ""], "serve: --listen needs a value"),
    (["record", ""], "record: FILE needs a value"),
    (["serve", "--config", "/nowhere.toml"], "/nowhere.toml"),
    (["serve", "--replay", "/nowhere.rec"], "/nowhere.rec"),
    (["get", "203", "--recorder", "/nowhere.rec"], "/nowhere.rec"),
    (["check-config", "/nowhere.toml"], "/nowhere.toml"),
]


def test_an_output_that_takes_nothing_is_told():
    with open("/dev/full", "w") as full:
        result = subprocess.run(
            [PROGRAM, "catalog"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert result.returncode == 3
    assert result.stderr == (
        "everywatt: cannot write to the standard output: No space left on device\n"
    )


def test_a_reader_that_went_away_ends_a_watch(serve):
    daemon = serve("--demo", "gemm")
    watch = subprocess.Popen(
        [PROGRAM, "watch", "203", "--interval", "100ms", "--run-dir", daemon.run_folder],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), restore_signals=False,
    )  # fmt: skip
    watch.stdout.readline()
    watch.stdout.close()
    assert watch.wait(timeout=20) == 0
    assert watch.stderr.read() == b""
    watch.stderr.close()


def test_a_run_folder_below_one_that_is_gone_is_told(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    line = complain("serve", "--run-dir", "x", code=2, preexec_fn=lambda: (os.chdir(gone), gone.rmdir()))
    assert "cannot find x" in line


def complain(*arguments, code: int, **options) -> str:
    result = run(*arguments, code=code, **options)
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("everywatt")
    assert result.stdout == ""
    return lines[0]


@pytest.mark.parametrize("arguments,said", USAGE, ids=[" ".join(case[0]) for case in USAGE])
def test_bad_usage(arguments, said):
    assert said in complain(*arguments, code=2)


def test_unknown_metric_and_gpu_come_with_what_there_is(recordings):
    path = recordings("gemm")
    line = complain("get", "gpu_powr_watts", "--recorder", path, code=2)
    assert "gpu_powr_watts" in line and "gpu_power_watts" in line
    assert "7" in complain("get", "203", "--gpu", "7", "--recorder", path, code=2)
    assert "@night" in complain("get", "203", "--gpu", "@night", "--recorder", path, code=2)
    line = complain(
        "get", "203", "--gpu", "@nigth", "--set", 'groups.night=["0"]', "--recorder", path, code=2
    )
    assert "@night" in line


def test_a_group_of_the_configuration_means_its_gpus(recordings):
    result = run(
        "get", "203", "--gpu", "@night", "--set", 'groups.night=["0"]',
        "--recorder", recordings("gemm"), code=0,
    )  # fmt: skip
    assert "GPU 0" in result.stdout


def test_a_text_has_no_history(recordings):
    assert "is a text" in complain(
        "history", "gpu_name", "--recorder", recordings("gemm"), code=2
    )


def test_config_faults_are_all_told_with_their_lines(tmp_path):
    path = tmp_path / "e.toml"
    path.write_text('[lanes]\nslow_second = 5\nprocess_seconds = "x"\n[log]\nlevel = "loud"\n')
    result = run("check-config", path, code=2)
    lines = result.stderr.splitlines()
    assert [line.split(": ")[1] for line in lines] == [f"{path}:{n}" for n in (2, 3, 5)]
    assert "did you mean 'lanes.slow_seconds'?" in lines[0]
    line = complain("serve", "--config", path, code=2)
    assert f"{path}:2" in line and "2 more" in line
    path.write_text("[lanes]\nslow_seconds = 5\n")
    assert run("check-config", path, code=0).stdout == "no fault found\n"


def test_files_that_a_configuration_names_are_checked_with_it(tmp_path):
    path = tmp_path / "e.toml"
    web = tmp_path / "web.yml"
    web.write_text("basic_auth_users:\n  prometheus: plain\n")
    path.write_text(f'[serve]\nweb_config = "{web}"\n')
    for words in ([path], ["--config", path]):
        result = run("check-config", *words, code=2)
        assert f"{web}:2: the password of 'prometheus': not a bcrypt hash" in result.stderr
    path.write_text('[notify.ops]\ntype = "wecom"\nurl_file = "/nowhere.url"\n')
    result = run("check-config", path, code=0)
    assert "notify.ops.url_file: /nowhere.url is not there" in result.stderr


# P008
def test_a_period_below_the_sources_is_clamped_and_said():
    result = run("check-config", "--set", "lanes.gauge_seconds=0.001", code=0)
    assert "0.1 is used" in result.stderr


def test_the_default_configuration_is_free_of_faults(tmp_path):
    path = tmp_path / "e.toml"
    path.write_text(run("check-config", "--default", code=0).stdout)
    run("check-config", path, code=0)
    assert path.read_text() == (SOURCE / "docs/everywatt.toml").read_text()
    assert "默认" in run("check-config", "--default", "--lang", "zh", code=0).stdout


def test_damaged_recordings_are_told(recordings, tmp_path):
    whole = recordings("gemm").read_bytes()
    path = tmp_path / "damaged.rec"
    for name, content in {
        "empty": b"",
        "short": whole[:5000],
        "other": b"#!/bin/sh\n" * 100,
        "header": whole[:40] + b"\xff" * 8 + whole[48:],
    }.items():
        path.write_bytes(content)
        assert str(path) in complain("get", "203", "--recorder", path, code=2), name
    link = tmp_path / "link.rec"
    link.symlink_to(recordings("gemm"))
    assert "link" in complain("get", "203", "--recorder", link, code=2)


def test_damaged_traces_are_told_with_their_line(tmp_path):
    stem = tmp_path / "gemm"
    for kind in ("gpu", "processes", "host"):
        shutil.copy(SOURCE / "traces" / f"gemm.{kind}.csv.gz", f"{stem}.{kind}.csv.gz")
    output = tmp_path / "out.rec"
    lines = gzip.open(f"{stem}.gpu.csv.gz", "rt").read().splitlines()
    lines[41] = lines[41].replace(",", ",x", 1)
    with gzip.open(f"{stem}.gpu.csv.gz", "wt") as file:
        file.write("\n".join(lines))
    assert "gemm.gpu.csv.gz:42" in complain("import", stem, "--output", output, code=2)
    with open(f"{stem}.gpu.csv.gz", "wb") as file:
        file.write((SOURCE / "traces/gemm.gpu.csv.gz").read_bytes()[:-100])
    assert "gemm.gpu.csv.gz" in complain("import", stem, "--output", output, code=2)
    assert not output.exists()


def test_an_import_replaces_no_file_of_somebody_else(tmp_path):
    output = tmp_path / "letter.txt"
    output.write_text("dear")
    line = complain("import", SOURCE / "traces/gemm", "--output", output, code=2)
    assert "is not a recorder file" in line and output.read_text() == "dear"


def test_without_a_daemon_or_a_gpu_there_is_nothing_to_talk_to(tmp_path):
    for command in (["free"], ["why", "203"], ["record", tmp_path / "x"], ["events", "--follow"]):
        line = complain(*command, "--run-dir", tmp_path, code=3)
        assert "no daemon runs" in line and "everywatt serve" in line
    for command in (["history", "203"], ["events"]):
        assert "no daemon runs" in complain(*command, "--run-dir", tmp_path, code=3)


@pytest.mark.parametrize("command", [[], ["discover"], ["get", "203"], ["watch", "203"], ["processes"]])
def test_own_readings_say_so_and_name_a_missing_library(command, tmp_path):
    result = run(*command, "--nvml-library", tmp_path / "no.so", code=3)
    lines = result.stderr.splitlines()
    assert "no daemon runs" in lines[0] and "no.so" in lines[-1] and len(lines) == 2


def test_an_unreadable_recorder_is_no_permission(recordings, needs_root, tmp_path):
    path = tmp_path / "secret.rec"
    shutil.copy(recordings("gemm"), path)
    path.chmod(0o600)
    tmp_path.chmod(0o755)
    os.chmod(tmp_path.parent, 0o755)
    os.chmod(tmp_path.parent.parent, 0o755)
    result = run("get", "203", "--recorder", path, user=65534, env=environment())
    assert result.returncode == 3 and len(result.stderr.splitlines()) == 1
