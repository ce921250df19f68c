# SPDX-License-Identifier: Apache-2.0
"""Files that change while the server runs, as the user as whom it runs."""

import pytest
from asking import ask, basic, bearer, fingerprint, shown_certificate, trust
from passwords import HASH, NEXT_HASH, NEXT_PASSWORD, NEXT_TOKEN, PASSWORD, TOKEN, USER
from program import wait_until

RIGHT = basic(USER, PASSWORD)
NEXT = basic(USER, NEXT_PASSWORD)


def read_again(daemon) -> int:
    return daemon.log.read_text().count("who may ask was read again")


def wait_for_line(daemon, text: str) -> None:
    """Files are looked at when somebody asks."""

    def is_there():
        ask(daemon.url, "/healthz")
        return text in daemon.log.read_text()

    wait_until(is_there, lambda: f"{text!r} in {daemon.log.read_text()}")


@pytest.fixture
def guarded(serve, access):
    return serve("--demo", "gemm", "--web-config", access.web_config(basic_auth_users={USER: HASH}))


def test_a_renewed_certificate_is_shown_without_a_restart(
    serve, access, authority, server_tls, scrape
):
    daemon = serve(
        "--demo", "gemm", "--web-config", access.web_config(tls_server_config=server_tls)
    )
    scraper = scrape(daemon.url, tls_config={"ca_file": authority.certificate})
    scraper.wait_for_readings()
    before = shown_certificate(daemon.url)
    certificate, _ = authority.sign("server")
    after = fingerprint(certificate)
    assert after != before
    wait_until(lambda: shown_certificate(daemon.url) == after, daemon.log.read_text)
    assert ask(daemon.url, tls=trust(authority.certificate)).status == 200
    # Nobody was cut off.
    assert scraper.instant("min_over_time(up[1m])")[0]["value"][1] == "1"


def test_a_changed_password_counts_at_once_for_all_who_had_logged_in(guarded, access):
    assert ask(guarded.url, login=RIGHT).status == 200
    assert ask(guarded.url, login=NEXT).status == 401
    access.web_config(basic_auth_users={USER: NEXT_HASH})
    wait_until(lambda: ask(guarded.url, login=RIGHT).status == 401, "the old one to be refused")
    assert ask(guarded.url, login=NEXT).status == 200
    assert read_again(guarded) == 1


def test_changed_tokens(serve, access):
    tokens = access.write("tokens", TOKEN)
    daemon = serve("--demo", "gemm", "--set", f'serve.tokens_file="{tokens}"')
    assert ask(daemon.url, login=bearer(TOKEN)).status == 200
    access.write("tokens", f"next {NEXT_TOKEN}\n")
    wait_until(lambda: ask(daemon.url, login=bearer(NEXT_TOKEN)).status == 200, "the new token")
    assert ask(daemon.url, login=bearer(TOKEN)).status == 401


def test_with_a_broken_file_the_old_one_goes_on_and_it_is_said_once(guarded, access):
    access.write("web.yml", "basic_auth_users:\n  prometheus: not a hash\n")
    wait_for_line(guarded, "what was read before goes on")
    assert "web.yml:2: the password of 'prometheus'" in guarded.log.read_text()
    assert "not a hash" not in guarded.log.read_text()
    assert ask(guarded.url, login=RIGHT).status == 200
    assert ask(guarded.url).status == 401
    access.path.joinpath("web.yml").unlink()
    wait_for_line(guarded, "serve.web_config: ")
    assert ask(guarded.url, login=RIGHT).status == 200
    assert guarded.log.read_text().count("what was read before goes on") == 2
    access.web_config(basic_auth_users={USER: NEXT_HASH})
    wait_until(lambda: ask(guarded.url, login=NEXT).status == 200, guarded.log.read_text)
    assert read_again(guarded) == 1


def test_a_key_that_does_not_fit_leaves_the_old_certificate(serve, access, authority, server_tls):
    daemon = serve(
        "--demo", "gemm", "--web-config", access.web_config(tls_server_config=server_tls)
    )
    before = shown_certificate(daemon.url)
    _, other_key = authority.sign("other")
    access.write("server.key", other_key.read_text())

    def is_said():
        assert shown_certificate(daemon.url) == before
        return "not the key of" in daemon.log.read_text()

    wait_until(is_said, daemon.log.read_text)
    assert "PRIVATE" not in daemon.log.read_text()


def test_a_file_for_root_alone_works_and_its_changes_are_told_about(
    serve, access, folder, needs_root
):
    config = access.web_config(basic_auth_users={USER: HASH})
    config.chmod(0o600)
    daemon = serve("--demo", "gemm", "--web-config", config)
    assert ask(daemon.url, login=RIGHT).status == 200
    assert f"{config} was read, but changes of it are not seen" in daemon.log.read_text()
    config.write_text(config.read_text().replace(HASH, NEXT_HASH))
    wait_for_line(daemon, "chgrp, and chmod 0640")
    assert ask(daemon.url, login=RIGHT).status == 200
    # What the line asks for is enough.
    access.give(config)
    wait_until(lambda: ask(daemon.url, login=NEXT).status == 200, daemon.log.read_text)
