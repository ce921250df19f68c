# SPDX-License-Identifier: Apache-2.0
"""Secrets on command lines of GPU processes never reach the files in shared memory."""

import subprocess

import pytest
from playhead import Playhead
from program import LIBRARY, PLAYER, environment, wait_until

# {} is the secret. Arguments are separated by what no argument holds.
FORMS = [
    "--password={}", "--password|{}", "--api-key={}", "--api-key|{}", "--wandb_token|{}", "-token|{}",
    "AWS_SECRET_ACCESS_KEY={}", "--set=login.token={}", "-H|Authorization: Bearer {}", "Bearer {}",
    "-u|anna:{}", "--user|anna:{}", "https://anna:{}@host/path", "postgres://anna:{}@db:5432/name",
    "anna:{}@tcp(db)/name", '{{"password": "{}"}}', "hf_{}", "ghp_{}", "AKIA{}", "prefix/sk-{}",
    "glpat-{}", "npm_{}", "--passphrase={}", "--pass|{}", "--header=X-Api-Key: {}", "PGPASSWORD={}",
    "https://host/?a=1&token={}", "https://blob/x?sv=1&sig={}", "https://hooks.slack.com/services/{}",
    "--jwt|{}", "--session-cookie={}", "--dsn={}", "--env=API_KEY={}", "--auth|{}",
]  # fmt: skip
STYLES = {"name": FORMS, "redacted": [*FORMS, "{}", "--name={}", "--name|{}", "-p{}"], "full": FORMS}


def secret(number: int) -> str:
    return f"Qz{number:03}Xw{number:03}Vk9Jq"


@pytest.mark.parametrize("style", STYLES)
def test_no_form_of_a_secret_is_kept(serve, tmp_path, style):
    forms = STYLES[style]
    sim = tmp_path / "sim"
    subprocess.run([PLAYER, "--make", sim, "--demo", "gemm", "--stepped"], check=True)
    pids = range(7001, 7013)
    with open(sim / "scenario.toml", "a") as file:
        for pid in pids:
            file.write(f"\n[[process]]\npid = {pid}\ngpu = 0\nmemory_bytes = 1048576\n")
    subprocess.run([PLAYER, "--root", sim / "root", "--sim", sim, "--once", "1000"], check=True)
    Playhead(sim / "playhead").step_to(1000)
    share = -(-len(forms) // len(pids))
    for place, pid in enumerate(pids):
        arguments = ["/opt/bin/planted", f"--marker{place}"]
        for number in range(place * share, min((place + 1) * share, len(forms))):
            arguments += forms[number].format(secret(number)).split("|")
        path = sim / f"root/proc/{pid}/cmdline"
        assert path.exists()
        path.write_bytes("\0".join([*arguments, "--end"]).encode() + b"\0")
    daemon = serve(
        "--nvml-library", LIBRARY, "--host-root", sim / "root",
        "--set", f"processes.command={style}", env=environment(EVERYWATT_SIM=str(sim)),
    )  # fmt: skip
    identities = daemon.run_folder / "identities"
    last = b"planted" if style == "name" else b"--end"
    wait_until(lambda: identities.read_bytes().count(last) >= len(pids), "all commands")
    kept = identities.read_bytes() + (daemon.run_folder / "recorder").read_bytes()
    found = [forms[n] for n in range(len(forms)) if secret(n).encode() in kept]
    assert found == []
    # Nor any long part of one.
    assert b"Vk9Jq" not in kept
