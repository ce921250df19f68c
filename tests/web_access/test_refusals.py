# SPDX-License-Identifier: Apache-2.0
"""Who does not prove who they are gets nothing, and cannot guess."""

import os
import re
import signal
import ssl
from pathlib import Path

import pytest
from asking import ask, basic, bearer, trust
from certificates import Authority
from passwords import HASH, NEXT_PASSWORD, NEXT_TOKEN, PASSWORD, TOKEN, USER
from program import run, wait_until

RIGHT = basic(USER, PASSWORD)
WRONG = basic(USER, NEXT_PASSWORD)
SERIES = "/api/v1/series?metric=gpu_power_watts"
PATHS = ("/", "/metrics", "/healthz", "/readyz", "/api/v1/gpus", SERIES, "/none")


@pytest.fixture
def guarded(serve, access):
    """With a password and a token, without TLS."""
    return serve(
        *("--demo", "gemm", "--web-config", access.web_config(basic_auth_users={USER: HASH})),
        *("--set", f'serve.tokens_file="{access.write("tokens", TOKEN)}"'),
        *("--set", 'log.level="debug"'),
    )


def test_nothing_is_served_without_a_login(guarded):
    for number, path in enumerate(PATHS):
        # Each as another client, of whom none fails too often.
        client = f"127.0.1.{number + 1}"
        stranger, guess = basic("nobody", PASSWORD), bearer(NEXT_TOKEN)
        for login in ("", WRONG, stranger, guess, "Basic ?", "Digest x"):
            answer = ask(guarded.url, path, login, client=client)
            assert answer.status == 401, (path, login)
            assert answer.headers["www-authenticate"].startswith("Basic realm=")
            assert len(answer.body) < 100 and "gpu" not in answer.body
        for login in (RIGHT, bearer(TOKEN)):
            expected = 404 if path == "/none" else 200
            assert ask(guarded.url, path, login, client=client).status == expected, path


def test_a_client_that_fails_too_often_must_wait_and_others_need_not(guarded):
    assert ask(guarded.url, login=RIGHT).status == 200
    answers = [ask(guarded.url, login=basic(USER, f"guess {i}")) for i in range(13)]
    # Ten at once, and then one in six seconds.
    assert [answer.status for answer in answers[:10]] == [401] * 10
    assert {answer.status for answer in answers[11:]} == {429}
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 6
    # Whose login is known needs no check.
    assert ask(guarded.url, login=RIGHT).status == 200
    # Its tokens are guesses, too.
    assert ask(guarded.url, login=bearer(NEXT_TOKEN)).status == 429
    assert ask(guarded.url, login=RIGHT, client="127.0.0.2").status == 200
    assert "127.0.0.1 fails to log in too often" in guarded.log.read_text()
    counted = ask(guarded.url, "/metrics?names=self", RIGHT).body
    refused = dict(
        re.findall(r'everywatt_web_requests_refused_total\{reason="(\w+)"\} (\d+)', counted)
    )
    assert int(refused["wrong_login"]) >= 10
    assert int(refused["too_often"]) >= 3


def test_secrets_are_neither_in_the_log_nor_in_any_command_line(guarded):
    for login in (RIGHT, WRONG, bearer(TOKEN), bearer(NEXT_TOKEN)):
        ask(guarded.url, login=login)
    places = {"the log": guarded.log.read_text()}
    pids = [guarded.process.pid, *guarded.parts().values()]
    assert len(pids) >= 4
    for pid in pids:
        places[f"command line of {pid}"] = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
        places[f"environment of {pid}"] = Path(f"/proc/{pid}/environ").read_text()
    places["/metrics"] = ask(guarded.url, "/metrics?names=native,dcgm,self", RIGHT).body
    secrets = [PASSWORD, NEXT_PASSWORD, HASH, TOKEN, NEXT_TOKEN]
    secrets += [login.split()[1] for login in (RIGHT, WRONG)]
    for place, text in places.items():
        assert [secret for secret in secrets if secret in text] == [], place


def test_a_server_that_takes_the_place_of_another_asks_the_same(guarded):
    before = guarded.parts()["server"]
    os.kill(before, signal.SIGKILL)
    wait_until(lambda: guarded.parts().get("server", before) != before, "another server")
    assert ask(guarded.url).status == 401
    assert ask(guarded.url, login=RIGHT).status == 200


def test_only_certificates_of_the_authority_are_taken(serve, access, authority, server_tls):
    web_config = access.web_config(
        tls_server_config=server_tls
        | {"client_ca_file": "authority.crt", "client_auth_type": "RequireAndVerifyClientCert"}
    )
    access.give(authority.certificate)
    daemon = serve("--demo", "gemm", "--web-config", web_config)
    other = Authority(access.path, "other")
    for shown in (None, other.sign("stranger")):
        with pytest.raises((ssl.SSLError, ConnectionError)):
            ask(daemon.url, tls=trust(authority.certificate, shown))
    own = trust(authority.certificate, authority.sign("client"))
    assert ask(daemon.url, tls=own).status == 200


def test_plain_http_at_a_port_of_tls_is_told_so(serve, access, server_tls):
    daemon = serve(
        "--demo", "gemm", "--web-config", access.web_config(tls_server_config=server_tls)
    )
    answer = ask(daemon.url.replace("https://", "http://"))
    assert answer.status == 400
    assert "https://" in answer.body


def test_that_http2_is_not_spoken_is_said_to_who_asks_for_it(serve_apart, access, server_tls):
    notice = "what is spoken is HTTP/1.1"
    plain = access.web_config(tls_server_config=server_tls)
    assert notice not in serve_apart("--demo", "gemm", "--web-config", plain).log.read_text()
    asking = access.web_config(tls_server_config=server_tls, http_server_config={"http2": True})
    assert notice in serve_apart("--demo", "gemm", "--web-config", asking).log.read_text()


def test_the_limit_of_the_web_configuration_file_is_for_all_together(serve, access):
    limit = {"burst": 3, "interval": "1h"}
    daemon = serve("--demo", "gemm", "--web-config", access.web_config(rate_limit=limit))
    answers = [ask(daemon.url, "/healthz", client=f"127.0.0.{i + 1}") for i in range(5)]
    assert [answer.status for answer in answers] == [200] * 3 + [429] * 2
    assert int(answers[-1].headers["retry-after"]) > 0


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("basic_auth_users: {prometheus: open sesame}", "web.yml:1: the password of 'prometheus'"),
        ("tls_server_config: {cert_file: no.crt}", "web.yml:1: missing one of key or key_file"),
        ("tls_server_config: {cert_file: no.crt, key_file: no.key}", "no.crt"),
        ("basic_auth_userz: {}", "basic_auth_userz"),
        ("basic_auth_users: {prometheus: [", "web.yml:"),
    ],
)
def test_a_bad_file_ends_the_start_with_its_name_and_line(access, folder, text, complaint):
    ended = run(
        *("serve", "--demo", "gemm", "--listen", "127.0.0.1:0", "--run-dir", folder),
        *("--web-config", access.write("web.yml", text)),
        code=2,
    )
    assert complaint in ended.stderr
    assert PASSWORD not in ended.stderr


def test_the_name_of_the_file_may_be_relative_to_where_it_was_started(serve, access):
    access.web_config(basic_auth_users={USER: HASH})
    daemon = serve("--demo", "gemm", "--web-config", "web.yml", cwd=access.path)
    assert ask(daemon.url).status == 401
    assert ask(daemon.url, login=RIGHT).status == 200


def test_to_be_open_beyond_this_machine_is_said_once_and_loudly(serve_apart, access):
    warning = "anybody who reaches 0.0.0.0 may read"
    everywhere = ("--demo", "gemm", "--listen", "0.0.0.0:0")
    daemon = serve_apart(*everywhere)
    ask(daemon.url, "/healthz")
    (line,) = [line for line in daemon.log.read_text().splitlines() if warning in line]
    assert "docs/security.md" in line and "warning" in line
    users = access.web_config(basic_auth_users={USER: HASH})
    assert warning not in serve_apart(*everywhere, "--web-config", users).log.read_text()
    assert warning not in serve_apart("--demo", "gemm").log.read_text()
