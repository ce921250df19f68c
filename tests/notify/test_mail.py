# SPDX-License-Identifier: Apache-2.0
"""The real code against a mail server."""

import pytest
from payloads import alert, payload


@pytest.fixture
def table(certificate, write):
    """A channel at that server."""

    def make(server, scheme="smtp", **more):
        base = {
            "type": "mail",
            "url": f"{scheme}://127.0.0.1:{server.port}",
            "from": "everywatt@example.com",
            "to": ["ops@example.com", "night@example.com"],
            "ca_file": str(certificate[0]),
        }
        if server.users:
            base |= {"username": "u", "password_file": write("password", "p w")}
        return base | more

    return make


@pytest.mark.parametrize("language, subject", [("en", "FIRING 1 · GpuMemoryHigh"), ("zh", "告警 1 · GpuMemoryHigh")])
@pytest.mark.parametrize("implicit", [False, True])
def test_a_mail_arrives_encrypted(notify, mail_server, table, implicit, language, subject):
    server = mail_server(users={"u": "p w"}, implicit_tls=implicit)
    notifier = notify(ops=table(server, "smtps" if implicit else "smtp", language=language))
    assert notifier.accept("ops", payload()) == "ok"
    (mail,) = server.wait(1)
    assert mail.encrypted and mail.user == "u"
    assert mail.sender == "everywatt@example.com"
    assert mail.recipients == ["ops@example.com", "night@example.com"]
    parsed = mail.parsed
    assert parsed["Subject"].startswith(subject)
    assert parsed["Auto-Submitted"] == "auto-generated"
    assert not parsed.defects
    plain, html = parsed.get_body(("plain",)), parsed.get_body(("html",))
    for part in (plain, html):
        assert "memory use at 96 %" in part.get_content()
    notifier.wait("ops", queued=0, sent_total=1)


def test_mails_of_a_group_are_one_thread(notify, mail_server, table):
    server = mail_server()
    notifier = notify(ops=table(server))
    notifier.accept("ops", payload())
    server.wait(1)
    notifier.accept("ops", payload(alert(status="resolved")))
    first, second = (mail.parsed for mail in server.wait(2))
    assert first["References"] == second["References"]
    assert first["Message-ID"] != second["Message-ID"]


def test_nothing_is_sent_in_the_clear_unless_that_is_asked_for(notify, mail_server, table):
    server = mail_server(starttls=False)
    notifier = notify(ops=table(server))
    notifier.accept("ops", payload())
    notifier.wait("ops", retried_total=1)
    assert "it offers no STARTTLS" in notifier.text_of_log()
    assert "MAIL" not in server.commands
    open_one = notify(ops=table(server, starttls="off"))
    open_one.wait("ops", queued=0)
    assert not server.wait(1)[0].encrypted


def test_a_server_that_is_not_trusted_gets_nothing(notify, mail_server, table):
    server = mail_server(users={"u": "p w"})
    notifier = notify(ops=table(server, ca_file=""))
    notifier.accept("ops", payload())
    notifier.wait("ops", retried_total=1)
    assert "its certificate is not trusted" in notifier.text_of_log()
    assert "AUTH" not in server.commands


def test_a_wrong_password_is_said_and_not_repeated(notify, mail_server, table):
    server = mail_server(users={"u": "another"})
    notifier = notify(ops=table(server))
    notifier.accept("ops", payload())
    status = notifier.wait("ops", queued=0)
    assert status["failed_total"]["security"] == 1
    log = notifier.text_of_log()
    assert "check username and password_file" in log and "p w" not in log


@pytest.mark.parametrize("answer, is_retried", [("451 try later", True), ("550 no such user", False)])
def test_codes_of_mail_are_followed(notify, mail_server, table, answer, is_retried):
    server = mail_server()
    server.refusals.append(answer)
    notifier = notify(ops=table(server))
    notifier.accept("ops", payload())
    status = notifier.wait("ops", queued=0)
    assert status["sent_total"] == int(is_retried)
    assert status["retried_total"] == int(is_retried)
    assert status["failed_total"]["address"] == int(not is_retried)


def test_a_sample_arrives(notify, mail_server, table):
    server = mail_server()
    assert notify(ops=table(server)).sample("ops") == "ok SMTP 250"
    assert server.wait(1)[0].parsed["Subject"] == "FIRING 1 · EverywattTest"
