# SPDX-License-Identifier: Apache-2.0
"""The program, started under the name dcgm-exporter."""

import base64
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request

import program
import pytest
from program import wait_until


@pytest.fixture
def exporter(tmp_path):
    """Starts it with these flags; gives the process and its log."""
    link = tmp_path / "dcgm-exporter"
    link.symlink_to(program.PROGRAM)
    log = tmp_path / "log"
    started = []

    def start(*flags: str, **variables: str) -> subprocess.Popen:
        environment = program.environment(EVERYWATT_RUN_DIR=str(tmp_path / "run"), **variables)
        with open(log, "w") as out:
            started.append(subprocess.Popen([link, *flags], stdout=out, stderr=out, env=environment))
        return started[-1]

    start.log = log
    start.link = link
    yield start
    for process in started:
        process.terminate()
        process.wait(10)


def test_it_listens_where_it_is_told_and_serves_dcgms_names_to_any_host(exporter):
    exporter("-a", "127.0.0.1:0", "-n", NODE_NAME="n7", DCGM_EXPORTER_KUBERNETES="true")
    found = wait_until(
        lambda: re.search(r"serving (http://\S+)", exporter.log.read_text()), exporter.log.read_text
    )
    ask = urllib.request.Request(found[1] + "/metrics", headers={"Host": "gpu-node.example:9400"})
    with urllib.request.urlopen(ask, timeout=10) as answer:
        text = answer.read().decode()
    assert not re.search(r"^(gpu|everywatt|node)_", text, re.MULTILINE)
    assert "--kubernetes: not there yet" in exporter.log.read_text()


@pytest.mark.parametrize("way", ["flag", "variable"])
def test_it_takes_a_web_configuration_file(exporter, tmp_path, way):
    # bob: "open sesame", at a cost that a test can bear
    config = tmp_path / "web.yml"
    config.write_text(
        "basic_auth_users:\n"
        "  bob: $2b$05$q49R3eYjh.fhZZ1352Pwq.dlVBBH9alSmgvkw6jcfyRy1bkm5E6ZW\n"
    )
    if way == "flag":
        exporter("-a", "127.0.0.1:0", "--web-config-file", str(config))
    else:
        exporter("-a", "127.0.0.1:0", DCGM_EXPORTER_WEB_CONFIG_FILE=str(config))
    found = wait_until(
        lambda: re.search(r"serving (http://\S+)", exporter.log.read_text()), exporter.log.read_text
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(found[1] + "/metrics", timeout=10)
    assert refused.value.code == 401
    login = "Basic " + base64.b64encode(b"bob:open sesame").decode()
    ask = urllib.request.Request(found[1] + "/metrics", headers={"Authorization": login})
    with urllib.request.urlopen(ask, timeout=10) as answer:
        assert answer.status == 200


def test_its_help_and_its_mistakes(exporter):
    def run(*flags):
        return subprocess.run([exporter.link, *flags], capture_output=True, text=True,
                              env=program.environment())  # fmt: skip

    shown = run("--help")
    assert shown.returncode == 0 and "--collect-interval, -c" in shown.stdout
    assert run("--version").stdout == program.run("--version").stdout
    wrong = run("--colectors", "x")
    assert wrong.returncode == 2 and "did you mean '--collectors'?" in wrong.stderr
    wrong = run("-f", str(exporter.log.parent / "none.csv"), "-a", "127.0.0.1:0")
    assert wrong.returncode == 2 and "none.csv" in wrong.stderr


def test_the_nodes_name_is_the_hostname(serve):
    daemon = serve("--demo", "gemm", env={**os.environ, **program.environment(NODE_NAME="n7")})
    assert 'Hostname="n7"' in daemon.fetch("/metrics?names=dcgm")


def test_the_page_about_it_is_up_to_date():
    tool = program.SOURCE / "tools/dcgm_compatibility.py"
    ended = subprocess.run([sys.executable, tool, program.PROGRAM, "--check"], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
