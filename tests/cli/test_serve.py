# SPDX-License-Identifier: Apache-2.0
"""The daemon: its parts, its files, its end."""

import json
import os
import signal
import socket
import stat
from pathlib import Path

import pytest
from program import (
    LIBRARY, SOURCE, children_of, environment, is_running, run, run_json, wait_until,
)  # fmt: skip

PARTS = {"sampler", "host", "server"}


def all_started(daemon) -> dict[str, int]:
    return wait_until(lambda: (p := daemon.parts()) and PARTS <= set(p) and p, "all parts")


def events(daemon, *arguments) -> list[dict]:
    lines = daemon.run("events", "--json", *arguments, code=0).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_all_traces_make_eleven_gpus(serve):
    daemon = serve("--demo", "all")
    assert "11 GPUs" in daemon.log.read_text() and "demo" in daemon.log.read_text()
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    assert daemon.status("/healthz") == 200
    assert len(daemon.metrics("native")["gpu_power_watts"]) == 11
    assert len(daemon.run_json("discover")["gpus"]) == 11
    assert daemon.run().stdout.count("NVIDIA H200") == 11
    page = daemon.fetch("/")
    assert "<html" in page.lower()


def test_files_are_for_whom_they_are_meant(serve):
    daemon = serve("--demo", "gemm")
    assert stat.S_IMODE((daemon.run_folder / "recorder").stat().st_mode) == 0o644
    assert stat.S_IMODE((daemon.run_folder / "identities").stat().st_mode) == 0o640


@pytest.mark.parametrize("part", ["sampler", "host", "server", "player"])
def test_a_part_that_dies_is_replaced_and_the_others_go_on(serve, part):
    daemon = serve("--demo", "gemm,fed")
    before = all_started(daemon)
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    os.kill(before[part], signal.SIGKILL)
    after = wait_until(
        lambda: (p := daemon.parts()) and set(p) == set(before) and p[part] != before[part] and p,
        f"a new {part}",
    )
    assert {k: v for k, v in after.items() if k != part} == {
        k: v for k, v in before.items() if k != part
    }
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness again")
    assert "killed by signal 9" in daemon.log.read_text()
    if part == "player":
        return
    ended = [e for e in events(daemon) if e["event"] == "part_ended"]
    assert [(e["device"], e["pid"], e["code"]) for e in ended] == [(part, before[part], 137)]
    assert "killed by signal 9" in ended[0]["text"]
    started = [e["pid"] for e in events(daemon) if e["event"] == "part_started"]
    assert set(started) == {before[p] for p in PARTS} | {after[part]}


def test_parts_have_names_in_top(serve):
    daemon = serve("--demo", "gemm")

    def names() -> dict[str, str]:
        return {p: Path(f"/proc/{pid}/comm").read_text().strip() for p, pid in daemon.parts().items()}

    # The kernel keeps 15 bytes.
    expected = {
        "sampler": "everywatt-sampl",
        "host": "everywatt-host",
        "server": "everywatt-serve",
        "player": "everywatt-playe",
    }
    wait_until(lambda: names() == expected, names)


def test_a_new_sampler_goes_on_where_the_old_one_ended(serve):
    daemon = serve("--demo", "gemm")
    parts = all_started(daemon)
    name = "gpu_observed_seconds_total"
    before = wait_until(lambda: daemon.metrics("native").get(name, {}).get("0"), name)
    os.kill(parts["sampler"], signal.SIGKILL)
    wait_until(lambda: daemon.parts().get("sampler") not in (None, parts["sampler"]), "a sampler")
    wait_until(lambda: daemon.metrics("native").get(name, {}).get("0", 0) > before, "growth")


def test_no_part_outlives_a_supervisor_that_is_killed(serve):
    daemon = serve("--demo", "gemm")
    pids = all_started(daemon).values()
    daemon.process.kill()
    daemon.process.wait()
    wait_until(lambda: not any(map(is_running, pids)), "their end", patience_s=5)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_everything_within_five_seconds(serve, number):
    daemon = serve("--demo", "gemm")
    pids = all_started(daemon).values()
    daemon.process.send_signal(number)
    assert daemon.process.wait(timeout=5) == 0
    assert not any(map(is_running, pids))
    assert {p.name for p in daemon.run_folder.iterdir()} == {"recorder", "identities", "lock"}
    # What it recorded can still be read, and is called old.
    answer = daemon.run("history", "gpu_power_watts", "--since", "5s", code=0)
    assert "no daemon runs" in answer.stderr and answer.stdout.count("\n") > 1


def test_parts_that_do_not_answer_are_killed_within_five_seconds(serve):
    daemon = serve("--demo", "gemm")
    pids = all_started(daemon).values()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(timeout=5) == 0
    assert not any(map(is_running, pids))


def test_what_else_is_in_the_run_folder_stays(serve, folder):
    letter = folder / "demo" / "letter"
    letter.parent.mkdir()
    letter.write_text("dear")
    daemon = serve("--demo", "gemm")
    assert daemon.stop()[0] == 0
    assert letter.read_text() == "dear"
    assert {p.name for p in folder.iterdir()} == {"demo", "recorder", "identities", "lock"}


def test_a_limit_on_the_size_of_files_is_told_in_one_line(folder, tmp_path, recordings):
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    for command in (
        ["serve", "--demo", "gemm", "--listen", "127.0.0.1:0", "--run-dir", folder],
        ["record", tmp_path / "x.rec", "--recorder", recordings("gemm")],
    ):
        refused = run(*command, preexec_fn=limit)
        assert refused.returncode in (2, 3)
        assert "File too large" in refused.stderr and len(refused.stderr.splitlines()) == 1


def test_the_end_of_a_terminal_is_ignored_where_the_parent_ignores_it(serve):
    daemon = serve(
        "--demo", "gemm", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    parts = all_started(daemon)
    for pid in (daemon.process.pid, *parts.values()):
        os.kill(pid, signal.SIGHUP)
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    assert daemon.parts() == parts
    assert daemon.stop()[0] == 0


def test_a_second_one_on_the_same_folder_or_port_is_refused(serve, tmp_path):
    daemon = serve("--demo", "gemm")
    refused = daemon.run("serve", "--demo", "gemm", "--listen", "127.0.0.1:0", code=3)
    assert len(refused.stderr.splitlines()) == 1
    assert "another everywatt serve runs with" in refused.stderr
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        other = daemon.run_folder / "other"
        refused = run("serve", "--demo", "gemm", "--listen", address, "--run-dir", other, code=3)
    assert [line for line in refused.stderr.splitlines() if "in use" in line] == [
        f"everywatt: {address} is in use; stop what listens there, or choose another with --listen"
    ]
    assert len(refused.stderr.splitlines()) == 1


def test_unknown_traces_are_refused_with_those_there_are(folder):
    refused = run("serve", "--demo", "gem", "--listen", "127.0.0.1:0", "--run-dir", folder)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert "gem" in refused.stderr and "bursty_inference" in refused.stderr


def test_without_a_gpu_it_stays_and_says_why(serve, tmp_path):
    (tmp_path / "root/proc").mkdir(parents=True)
    daemon = serve("--nvml-library", tmp_path / "no.so", "--host-root", tmp_path / "root")
    assert "0 GPUs" in daemon.log.read_text()
    assert daemon.status("/healthz") == 200 and daemon.status("/readyz") == 503
    assert daemon.process.poll() is None
    assert PARTS <= set(all_started(daemon))


def test_a_run_folder_must_be_ours(folder, tmp_path):
    def refuse(path) -> str:
        refused = run("serve", "--run-dir", path, "--listen", "127.0.0.1:0", code=3)
        (line,) = refused.stderr.splitlines()
        return line

    (folder / "real").mkdir()
    (folder / "link").symlink_to(folder / "real")
    assert "symbolic link" in refuse(folder / "link")
    (folder / "open").mkdir()
    (folder / "open").chmod(0o777)
    assert "others may write" in refuse(folder / "open")
    if os.geteuid() == 0:
        (folder / "theirs").mkdir()
        os.chown(folder / "theirs", 12345, 12345)
        assert "belongs to user 12345" in refuse(folder / "theirs")


def test_as_root_the_server_is_nobody_and_the_host_process_only_reads(serve, needs_root):
    daemon = serve("--demo", "gemm")
    parts = all_started(daemon)

    def status(part: str) -> dict[str, str]:
        with open(f"/proc/{parts[part]}/status") as file:
            return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)

    wait_until(lambda: status("server")["Uid"].split()[0] != "0", "the server's user")
    wait_until(lambda: daemon.status("/healthz") == 200, "the server")
    server, host = status("server"), status("host")
    assert set(server["Gid"].split()) != {"0"} and server["Groups"].strip() == ""
    for kind in ("CapPrm", "CapEff", "CapBnd", "CapInh"):
        assert int(server[kind], 16) == 0, kind
    reading = 1 << 2 | 1 << 19 | 1 << 34  # DAC_READ_SEARCH, SYS_PTRACE, SYSLOG
    assert int(host["CapEff"], 16) & ~reading == 0
    for part in PARTS:
        assert status(part)["NoNewPrivs"] == "1", part


def test_an_ordinary_user_runs_all_of_it(folder, serve, needs_root):
    folder.chmod(0o755)
    os.chown(folder, 65534, 65534)
    daemon = serve("--demo", "gemm", user=65534, group=65534, extra_groups=[])
    parts = all_started(daemon)
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    for pid in parts.values():
        assert os.stat(f"/proc/{pid}").st_uid == 65534
    assert daemon.run_json("get", "gpu_power_watts")["readings"][0]["state"] == "ok"
    assert daemon.stop()[0] == 0


def test_a_hanging_gpu_is_fenced_and_the_others_go_on(serve, folder, tmp_path):
    import subprocess

    from program import PLAYER

    sim = tmp_path / "sim"
    subprocess.run([PLAYER, "--make", sim, "--demo", "gemm,fed", "--stepped"], check=True)
    with open(sim / "scenario.toml", "a") as file:
        file.write(
            '\n[[fault]]\nfunction = "nvmlDeviceGetTemperature"\ngpu = 1\nhangs = true\nfrom_ms = 1000\n'
            '[[fault]]\nfunction = "nvmlDeviceGetTemperatureV"\ngpu = 1\nhangs = true\nfrom_ms = 1000\n'
        )
    from playhead import Playhead

    playhead = Playhead(sim / "playhead")
    playhead.step_to(500)
    subprocess.run([PLAYER, "--root", sim / "root", "--sim", sim, "--once", "500"], check=True)
    daemon = serve(
        "--nvml-library", LIBRARY, "--host-root", sim / "root",
        "--set", "driver.call_deadline_seconds=0.5",
        env=environment(EVERYWATT_SIM=str(sim)),
    )  # fmt: skip
    sampler = all_started(daemon)["sampler"]
    wait_until(lambda: len(daemon.metrics("native").get("gpu_power_watts", {})) == 2, "both GPUs")
    playhead.step_to(1500)
    told = wait_until(
        lambda: [e for e in events(daemon) if e["event"] == "timed_out" and e["source"] == "supervisor"],
        "the time-out",
    )
    assert told[0]["device"] == "GPU 1" and "nvmlDeviceGetTemperature" in told[0]["text"]
    wait_until(lambda: daemon.parts().get("sampler") not in (None, sampler), "a new sampler")
    wait_until(
        lambda: set(daemon.metrics("native").get("gpu_power_watts", {})) == {"0"}, "GPU 0 alone"
    )
    (reading,) = daemon.run_json("get", "gpu_power_watts", "--gpu", "1", code=1)["readings"]
    assert reading["state"] == "timed_out", reading
    assert daemon.status("/readyz") == 503


def test_commands_read_by_themselves_without_a_daemon(tmp_path):
    import subprocess

    from program import PLAYER

    sim = tmp_path / "sim"
    subprocess.run([PLAYER, "--make", sim, "--demo", "gemm,fed"], check=True)
    subprocess.run([PLAYER, "--root", sim / "root", "--sim", sim, "--once", "0"], check=True)
    named = ("--nvml-library", LIBRARY, "--host-root", sim / "root")
    env = environment(EVERYWATT_SIM=str(sim))
    for command in ([], ["discover"], ["get", "gpu_power_watts"], ["processes"]):
        answer = run(*command, *named, env=env, code=0)
        assert "no daemon runs" in answer.stderr
        assert "GPU 1" in answer.stdout or command == ["processes"]
    lines = run(
        "watch", "gpu_power_watts", "--count", "3", "--interval", "100ms", "--json", *named, env=env
    ).stdout.splitlines()
    assert [len(json.loads(line)["readings"]) for line in lines] == [2, 2, 2]
    for line in lines:
        assert all(r["state"] == "ok" for r in json.loads(line)["readings"])


def test_watch_and_follow_show_what_happens(serve):
    import subprocess

    from program import PROGRAM

    daemon = serve("--demo", "gemm")
    parts = all_started(daemon)
    answer = daemon.run("watch", "gpu_power_watts", "--count", "2", "--interval", "200ms", code=0)
    assert "GPU 0 gpu_power_watts" in answer.stdout.splitlines()[0]
    assert len(answer.stdout.splitlines()) == 3
    follow = subprocess.Popen(
        [PROGRAM, "events", "--follow", "--since", "10m", "--json", "--run-dir", daemon.run_folder],
        stdout=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip
    try:
        wait_until(lambda: is_looking(follow.pid, daemon.run_folder), "a reader")
        os.kill(parts["host"], signal.SIGKILL)
        shown = []
        for line in follow.stdout:
            assert line not in shown  # also of those that it began with
            shown.append(line)
            event = json.loads(line)
            if event["event"] == "part_ended":
                assert event["device"] == "host"
                break
    finally:
        follow.kill()
        follow.wait()


def is_looking(pid: int, run_folder) -> bool:
    with open(f"/proc/{pid}/maps") as file:
        return str(run_folder / "recorder") in file.read()


def test_a_recording_goes_on_while_the_daemon_does(serve, tmp_path):
    daemon = serve("--demo", "gemm")
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    path = tmp_path / "kept.rec"
    told = daemon.run("record", path, "--for", "1500ms", code=0)
    assert ", 0 lost" in told.stderr
    (series,) = run_json("history", "gpu_power_watts", "--recorder", path)["series"]
    times = [t for t, _, state, _ in series["points"] if state == "ok"]
    assert times[-1] - times[0] > 1.2e9
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_no_command_writes_over_the_recorder_of_a_running_daemon(serve):
    daemon = serve("--demo", "gemm")
    live = daemon.run_folder / "recorder"
    inode = live.stat().st_ino
    for command in (
        ["record", live, "--for", "1s", "--run-dir", daemon.run_folder],
        ["import", SOURCE / "traces/gemm", "--output", live],
    ):
        refused = run(*command, code=2)
        assert "is the recorder of a running daemon" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
    assert live.stat().st_ino == inode


def test_a_recording_is_replayed_with_a_moving_now(recordings, serve):
    daemon = serve("--replay", recordings("gemm"))
    text = wait_until(
        lambda: 'gpu_power_watts{gpu="0"' in (t := daemon.fetch("/metrics?names=native")) and t,
        "the first readings",
    )
    wait_until(lambda: daemon.fetch("/metrics?names=native") != text, "another moment")
    assert "replay of" in daemon.fetch("/api/v1/gpus")
    assert daemon.parts() == {}
    assert daemon.stop()[0] == 0


def test_a_demo_begins_a_new_file_in_an_old_folder(serve):
    daemon = serve("--demo", "gemm")
    wait_until(lambda: daemon.status("/readyz") == 200, "readiness")
    inode = (daemon.run_folder / "recorder").stat().st_ino
    assert daemon.stop()[0] == 0
    # A demo is never taken for the machine, nor for another demo.
    again = serve("--demo", "gemm")
    assert (again.run_folder / "recorder").stat().st_ino != inode
    wait_until(lambda: again.status("/readyz") == 200, "readiness")


def test_a_restarted_daemon_goes_on_in_the_same_file(serve, tmp_path):
    import subprocess

    from program import PLAYER

    sim = tmp_path / "sim"
    subprocess.run([PLAYER, "--make", sim, "--demo", "gemm"], check=True)
    subprocess.run([PLAYER, "--root", sim / "root", "--sim", sim, "--once", "0"], check=True)
    named = ("--nvml-library", LIBRARY, "--host-root", sim / "root")
    env = environment(EVERYWATT_SIM=str(sim))

    def observed_seconds(daemon) -> float:
        name = "gpu_observed_seconds_total"
        return wait_until(lambda: daemon.metrics("native").get(name, {}).get("0"), name)

    daemon = serve(*named, env=env)
    before, inode = observed_seconds(daemon), (daemon.run_folder / "recorder").stat().st_ino
    assert daemon.stop()[0] == 0
    again = serve(*named, env=env)
    assert (again.run_folder / "recorder").stat().st_ino == inode
    assert observed_seconds(again) >= before


def test_the_part_command_is_for_the_supervisor_alone():
    run("part", "sampler", code=2)
    assert "part" not in run("--help").stdout.split()
    assert children_of(os.getpid()) == {}
