# SPDX-License-Identifier: Apache-2.0
"""From Alertmanager's post to a channel, through a running daemon."""

import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from pathlib import Path

import pytest
from payloads import alert, payload
from program import environment, run, wait_until
from receiver import PATH, post, secret_file, value, wait_connected
from robots import WEBHOOK

TOKEN = "receiver-token-7f3a"


@pytest.fixture
def etc():
    """A folder that the courier may enter, as /etc/everywatt is."""
    path = Path(tempfile.mkdtemp(prefix="everywatt-etc-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def hook(serve, robots, etc):
    """A daemon with the channels `hook`, and `open`, which has no token."""
    token = secret_file(etc / "token", TOKEN)
    config = etc / "everywatt.toml"
    config.write_text(
        f'[notify.hook]\ntype = "webhook"\nurl = "{robots.url(WEBHOOK)}"\n'
        f'receiver_token_file = "{token}"\n'
        f'[notify.open]\ntype = "webhook"\nurl = "{robots.url(WEBHOOK)}"\n'
    )
    daemon = serve("--demo", "gemm", "--config", config)
    daemon.token = token
    daemon.courier = wait_connected(daemon)
    return daemon


def queued(daemon) -> bool:
    return value(daemon, "everywatt_notify_queued", channel="hook") == 1


def sent(daemon) -> bool:
    return value(daemon, "everywatt_notify_sent_total", channel="hook", type="webhook") == 1


def test_what_alertmanager_posts_arrives(hook, robots):
    assert post(hook, "hook", payload(alert("GpuHot", "critical")), TOKEN) == (202, '{"status":"queued"}\n')
    (message,) = robots.wait(1)
    assert message.body["alerts"][0]["labels"]["alertname"] == "GpuHot"
    wait_until(lambda: sent(hook), "the count")
    assert value(hook, "everywatt_notify_queued", channel="hook") == 0
    assert value(hook, "everywatt_notify_sent_total", channel="open") == 0
    assert value(hook, "everywatt_notify_last_success_timestamp_seconds", channel="hook") > 1e9


def test_nobody_else_may_post(hook, robots):
    assert post(hook, "hook", payload())[0] == 401
    assert post(hook, "hook", payload(), "wrong")[0] == 401
    assert post(hook, "hook", payload(), TOKEN, Origin="http://elsewhere.example")[0] == 403
    assert post(hook, "hook", payload(), TOKEN, Host="elsewhere.example")[0] == 421
    status, text = post(hook, "open", payload(), TOKEN)
    assert status == 403 and "receiver_token_file" in text
    assert robots.taken() == []


def test_what_is_no_notification_is_refused(hook, robots):
    assert post(hook, "nobody", payload(), TOKEN)[0] == 404
    assert post(hook, "hook", b"{}", TOKEN)[0] == 400
    assert post(hook, "hook", b"[" * 100_000, TOKEN)[0] == 400
    assert post(hook, "hook", b"", TOKEN)[0] == 400
    assert post(hook, "hook", payload(), TOKEN, Content_Type="text/plain")[0] == 415
    assert hook.status(PATH + "hook") == 405
    # One byte above the limit, and all that one could send.
    assert post(hook, "hook", b" " * ((4 << 20) + 1), TOKEN)[0] == 413
    assert post(hook, "hook", b"", TOKEN, Content_Length=str(1 << 40))[0] == 413
    assert robots.taken() == []
    assert hook.parts()["courier"] == hook.courier


def test_a_notification_of_four_mebibytes_is_taken(hook, robots):
    large = payload(*(alert(f"A{i}", description="x" * 4000) for i in range(900)))
    assert post(hook, "hook", large, TOKEN)[0] == 202
    assert robots.wait(1)


def test_a_courier_that_is_killed_before_it_delivers_does_so_after_its_replacement(hook, robots):
    others = {k: v for k, v in hook.parts().items() if k != "courier"}
    robots.answer(WEBHOOK, "stall")
    assert post(hook, "hook", payload(), TOKEN)[0] == 202
    wait_until(lambda: robots.received, "the first try")
    os.kill(hook.courier, signal.SIGKILL)
    robots.wait(1)
    after = hook.parts()
    assert after["courier"] != hook.courier
    assert {k: v for k, v in after.items() if k != "courier"} == others
    wait_connected(hook)
    assert post(hook, "hook", payload(alert("After")), TOKEN)[0] == 202
    robots.wait(2)
    (ended,) = [e for e in events(hook) if e["event"] == "part_ended"]
    assert ended["pid"] == hook.courier and ended["code"] == 137
    assert "courier: killed by signal 9" in hook.log.read_text()


def events(daemon) -> list[dict]:
    return [json.loads(line) for line in daemon.run("events", "--json", code=0).stdout.splitlines()]


def test_what_waits_outlives_the_daemon(serve, robots, etc, tmp_path):
    token = secret_file(etc / "token", TOKEN)
    options = ("--demo", "gemm", "--data-dir", tmp_path / "data",
               "--set", "notify.hook.type=webhook", "--set", f"notify.hook.url={robots.url(WEBHOOK)}",
               "--set", f"notify.hook.receiver_token_file={token}")  # fmt: skip
    daemon = serve(*options)
    wait_connected(daemon)
    robots.answer(WEBHOOK, *["503"] * 3)
    assert post(daemon, "hook", payload(), TOKEN)[0] == 202
    wait_until(lambda: queued(daemon), "the queue")
    code, seconds = daemon.stop()
    assert code == 0 and seconds < 5
    assert robots.taken() == []
    wait_connected(serve(*options))
    assert robots.wait(1)


def test_a_new_server_hears_the_courier_that_runs(hook, robots):
    os.kill(hook.parts()["server"], signal.SIGKILL)
    wait_until(lambda: hook.status("/healthz") == 200, "a new server")
    assert wait_connected(hook) == hook.courier
    assert post(hook, "hook", payload(), TOKEN)[0] == 202
    assert robots.wait(1)


def test_a_courier_that_does_not_answer_holds_up_nobody(hook, robots):
    os.kill(hook.courier, signal.SIGSTOP)
    # The signal is on its way when kill() returns: each thread stops in its own time.
    threads = Path(f"/proc/{hook.courier}/task")
    wait_until(
        lambda: all("State:\tT" in (each / "status").read_text() for each in threads.iterdir()),
        "a courier that stands still",
    )
    try:
        waiting = socket.create_connection(hook.url.removeprefix("http://").split(":"))
        waiting.sendall(
            f"POST {PATH}hook HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n"
            "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}".encode()
        )
        begin = time.monotonic()
        assert hook.status("/healthz") == 200
        assert time.monotonic() - begin < 2
        assert b"503 Service Unavailable" in waiting.recv(4096)
        assert 4 < time.monotonic() - begin < 10
        waiting.close()
    finally:
        os.kill(hook.courier, signal.SIGCONT)
    assert post(hook, "hook", payload(), TOKEN)[0] == 202
    assert robots.wait(1)


def test_a_token_that_is_changed_counts_within_seconds(hook):
    secret_file(hook.token, "another")
    wait_until(lambda: post(hook, "hook", payload(), "another")[0] == 202, "the new token")
    assert post(hook, "hook", payload(), TOKEN)[0] == 401
    hook.token.unlink()
    wait_until(lambda: post(hook, "hook", payload(), "another")[0] == 403, "no token")
    assert str(hook.token) in hook.log.read_text()


def test_without_a_channel_there_is_no_courier_and_no_path(serve):
    daemon = serve("--demo", "gemm")
    wait_until(lambda: {"sampler", "host", "server"} <= set(daemon.parts()), "all parts")
    assert "courier" not in daemon.parts()
    assert post(daemon, "hook", payload(), TOKEN)[0] == 405
    assert daemon.status(PATH + "hook") == 404
    assert not {"everywatt_notify", "everywatt_courier", "everywatt_remote"} & set(
        "_".join(line.split("_")[:2]) for line in daemon.fetch("/metrics").splitlines()
    )


def test_secrets_are_with_the_courier_alone(serve, robots):
    """Addresses and tokens from the environment, and what shows what is in a process."""
    url = f"{robots.url(WEBHOOK)}?key=url-secret-91b2"
    secrets = {"HOOK_URL": url, "HOOK_TOKEN": TOKEN, "UNNAMED": "kept-by-all"}
    daemon = serve(
        "--demo", "gemm",
        "--set", "notify.hook.type=webhook", "--set", "notify.hook.url_env=HOOK_URL",
        "--set", "notify.hook.receiver_token_env=HOOK_TOKEN",
        env=environment(**secrets),
    )  # fmt: skip
    courier = wait_connected(daemon)
    assert post(daemon, "hook", payload(), TOKEN)[0] == 202
    robots.wait(1)
    assert post(daemon, "hook", payload(), "wrong")[0] == 401
    shown = daemon.log.read_text() + daemon.fetch("/metrics") + daemon.fetch("/api/v1/gpus")
    pids = {"supervisor": daemon.process.pid, **daemon.parts()}
    for part, pid in pids.items():
        process = Path(f"/proc/{pid}")
        shown += (process / "cmdline").read_text()
        # Of the courier's own the test cannot see anything unless it is root.
        surroundings = (process / "environ").read_text() if part != "courier" or os.geteuid() == 0 else url + TOKEN
        for secret in (url, TOKEN):
            assert (secret in surroundings) == (part == "courier"), part
    for descriptor in Path(f"/proc/{daemon.process.pid}/fd").iterdir():
        if "everywatt-settings" in os.readlink(descriptor):
            shown += descriptor.read_text()
    assert "notify.hook.url_env" in shown
    for path in daemon.run_folder.glob("*"):
        if path.is_file():
            shown += path.read_bytes().decode(errors="replace")
    for secret in ("url-secret-91b2", TOKEN):
        assert secret not in shown
    assert daemon.parts()["courier"] == courier


def test_promtool_has_nothing_to_say_about_what_is_sent(hook):
    sys.path.append(str(Path(__file__).resolve().parents[1] / "export"))
    import promtool

    if not promtool.is_installed():
        pytest.skip("promtool is not installed")
    text = hook.fetch("/metrics?names=self")
    assert "everywatt_notify_failed_total{" in text and "everywatt_courier_connected 1" in text
    assert promtool.complaints(text.encode()) == []


def test_no_place_for_what_waits_stops_nothing_else(serve, robots, etc, tmp_path):
    token = secret_file(etc / "token", TOKEN)
    data = tmp_path / "data"
    data.mkdir()
    (data / "spool").symlink_to("/")
    daemon = serve(
        "--demo", "gemm", "--data-dir", data,
        "--set", "notify.hook.type=webhook", "--set", f"notify.hook.url={robots.url(WEBHOOK)}",
        "--set", f"notify.hook.receiver_token_file={token}",
    )  # fmt: skip
    assert "nothing is sent" in daemon.log.read_text()
    assert "courier" not in daemon.parts()
    assert post(daemon, "hook", payload(), TOKEN)[0] == 503
    assert value(daemon, "everywatt_courier_connected") == 0
    assert daemon.status("/healthz") == 200


def test_mistakes_in_a_channel_are_told_before_anything_starts(tmp_path):
    config = tmp_path / "e.toml"
    config.write_text('[notify.ops]\ntype = "dingtalk"\nlangage = "zh"\n')
    checked = run("check-config", config, code=2)
    assert f"{config}:3: unknown key 'notify.ops.langage'" in checked.stderr
    assert f"{config}:1: notify.ops: needs url_file or url_env" in checked.stderr
    started = run("serve", "--config", config, code=2)
    assert "langage" in started.stderr
