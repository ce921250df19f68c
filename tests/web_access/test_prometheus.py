# SPDX-License-Identifier: Apache-2.0
"""The real Prometheus scrapes with each way to prove who one is, and without any in vain."""

from asking import ask, trust
from passwords import HASH, NEXT_PASSWORD, PASSWORD, TOKEN, USER


def serve_with_password(serve, access, server_tls):
    return serve(
        "--demo",
        "gemm",
        "--web-config",
        access.web_config(tls_server_config=server_tls, basic_auth_users={USER: HASH}),
    )


def test_over_tls_with_a_password(serve, access, authority, server_tls, scrape):
    daemon = serve_with_password(serve, access, server_tls)
    assert daemon.url.startswith("https://127.0.0.1:")
    password = access.write("password", PASSWORD + "\n")
    scrape(
        daemon.url,
        basic_auth={"username": USER, "password_file": password},
        tls_config={"ca_file": authority.certificate},
    ).wait_for_readings()


def test_with_a_wrong_password_it_gets_nothing(serve, access, authority, server_tls, scrape):
    daemon = serve_with_password(serve, access, server_tls)
    scraper = scrape(
        daemon.url,
        basic_auth={"username": USER, "password": NEXT_PASSWORD},
        tls_config={"ca_file": authority.certificate},
    )
    assert "401" in scraper.wait_for("down")["lastError"]
    assert not scraper.instant("gpu_power_watts")


def test_over_tls_with_a_bearer_token(serve, access, authority, server_tls, scrape):
    tokens = access.write("tokens", f"# who scrapes\nprometheus {TOKEN}\n")
    web_config = access.web_config(tls_server_config=server_tls)
    daemon = serve(
        *("--demo", "gemm", "--web-config", web_config),
        *("--set", f'serve.tokens_file="{tokens}"'),
    )
    tls = {"ca_file": authority.certificate}
    token = access.write("token", TOKEN)
    scrape(
        daemon.url, authorization={"credentials_file": token}, tls_config=tls
    ).wait_for_readings()
    assert "401" in scrape(daemon.url, tls_config=tls).wait_for("down")["lastError"]


def test_with_a_client_certificate(serve, access, authority, server_tls, scrape):
    web_config = access.web_config(
        tls_server_config=server_tls
        | {"client_ca_file": "authority.crt", "client_auth_type": "RequireAndVerifyClientCert"}
    )
    access.give(authority.certificate)
    daemon = serve("--demo", "gemm", "--web-config", web_config)
    certificate, key = authority.sign("scraper", "DNS:scraper.example")
    tls = {"ca_file": authority.certificate}
    scrape(
        daemon.url, tls_config=tls | {"cert_file": certificate, "key_file": key}
    ).wait_for_readings()
    # It proves who it is: it may do all, as on this machine.
    known = trust(authority.certificate, (certificate, key))
    assert ask(daemon.url, "/api/v1/gpus", tls=known).status == 200
    refused = scrape(daemon.url, tls_config=tls).wait_for("down")["lastError"]
    assert "certificate required" in refused
