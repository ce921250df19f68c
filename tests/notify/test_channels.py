# SPDX-License-Identifier: Apache-2.0
"""The real code against robots that check what they are sent."""

import json
import time

import pytest
from payloads import alert, payload
from robots import DINGTALK, FEISHU, SLACK, WEBHOOK, WECOM

ALL = [DINGTALK, WECOM, FEISHU, SLACK, WEBHOOK]
SECRETS = {DINGTALK: "SEC0123456789abcdef", FEISHU: "feishu-secret-0123"}


@pytest.fixture
def channel(robots, write):
    """A channel of that type at its robot."""

    def make(kind, **more):
        table = {"type": kind, "url_file": write(f"{kind}.url", robots.url(kind) + "\n"), **more}
        if kind in robots.secrets:
            table["secret_file"] = write(f"{kind}.secret", robots.secrets[kind])
        return table

    return make


def assert_no_secret(robots, notifier, *more):
    log = notifier.text_of_log()
    for secret in [*SECRETS.values(), *more, "0123456789abcdef0123456789abcdef", "693axxx6", "XXXXXXXX", "0d8f3c5a"]:
        assert secret not in log


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("kind", ALL)
def test_a_robot_takes_what_it_is_sent(robots, notify, channel, kind, language):
    robots.secrets, robots.keywords = SECRETS, {DINGTALK: "Everywatt", FEISHU: "Everywatt"}
    notifier = notify(ops=channel(kind, language=language))
    assert notifier.accept("ops", payload(alert(), alert("GpuHot", "critical", "resolved"))) == "ok"
    (message,) = robots.wait(1)
    for word in ("GpuMemoryHigh", "GpuHot", "node-1:9400"):
        assert word in message.text
    assert message.headers["User-Agent"] == "everywatt"
    notifier.wait("ops", queued=0, sent_total=1)
    assert_no_secret(robots, notifier)


@pytest.mark.parametrize("kind", [DINGTALK, WECOM, FEISHU, SLACK])
def test_five_hundred_alerts_arrive_within_every_limit(robots, notify, channel, kind):
    notifier = notify(ops=channel(kind, per_minute=17 if kind in (DINGTALK, WECOM) else 50))
    alerts = [alert(f"Storm{i:03}x", annotations={"description": "显存" * 60}) for i in range(500)]
    robots.has_rates = False
    assert notifier.accept("ops", payload(*alerts)) == "ok"
    parts = robots.wait(5, seconds=60)
    text = "".join(part.text for part in parts)
    shown, _, tail = text.partition("… and ")
    named = sum(shown.count(f"Storm{i:03}x") > 0 for i in range(500))
    # What has no room is counted. A title names a few, too.
    assert named + (int(tail.split(" ")[0]) if tail else 0) >= 500
    assert all(f"({i + 1}/5)" in part.text for i, part in enumerate(parts[:5]))


@pytest.mark.parametrize(
    "kind, answer, reason",
    [
        (DINGTALK, "310000", "security"),
        (DINGTALK, "300001", "address"),
        (DINGTALK, "90030", "quota"),
        (DINGTALK, "460101", "size"),
        (DINGTALK, "html", "answer"),
        (DINGTALK, "empty", "answer"),
        (DINGTALK, "redirect", "address"),
        (WECOM, "40058", "size"),
        (WECOM, "93000", "address"),
        (WECOM, "unknown", "request"),
        (FEISHU, "19021", "security"),
        (FEISHU, "19022", "security"),
        (FEISHU, "19024", "security"),
        (FEISHU, "9499", "request"),
        (SLACK, "no_text", "request"),
        (SLACK, "user_not_found", "address"),
        (SLACK, "action_prohibited", "security"),
        (SLACK, "channel_not_found", "address"),
        (SLACK, "no_service", "address"),
        (SLACK, "channel_is_archived", "address"),
        (SLACK, "html", "answer"),
        (WEBHOOK, "401", "security"),
        (WEBHOOK, "redirect", "address"),
    ],
)
def test_what_is_refused_is_counted_said_and_not_repeated(robots, notify, channel, kind, answer, reason):
    notifier = notify(ops=channel(kind))
    robots.answer(kind, answer)
    notifier.accept("ops", payload())
    status = notifier.wait("ops", queued=0)
    assert status["failed_total"][reason] == 1 and sum(status["failed_total"].values()) == 1
    assert status["sent_total"] == 0 and status["retried_total"] == 0
    assert len(robots.received) == 1
    assert f"notify.ops: a notification is given up, {reason}" in notifier.text_of_log()
    assert_no_secret(robots, notifier)


@pytest.mark.parametrize(
    "kind, answer",
    [
        (DINGTALK, "busy"),
        (DINGTALK, "503"),
        (WECOM, "busy"),
        (FEISHU, "11232"),
        (SLACK, "429"),
        (SLACK, "rollup_error"),
        (WEBHOOK, "503"),
        (WEBHOOK, "reset"),
    ],
)
def test_what_may_work_later_is_tried_again(robots, notify, channel, kind, answer):
    notifier = notify(ops=channel(kind))
    robots.answer(kind, answer)
    notifier.accept("ops", payload())
    robots.wait(1)
    status = notifier.wait("ops", queued=0)
    assert status["sent_total"] == 1 and status["retried_total"] == 1
    assert sum(status["failed_total"].values()) == 0
    first, second = robots.received
    assert second.seconds - first.seconds > (2 if answer == "429" else 0.9)


@pytest.mark.parametrize("kind, answer", [(DINGTALK, "130101"), (WECOM, "45009")])
def test_a_robot_that_blocks_is_left_alone(robots, notify, channel, kind, answer):
    notifier = notify(ops=channel(kind))
    robots.answer(kind, answer)
    notifier.accept("ops", payload())
    notifier.wait("ops", retried_total=1)
    notifier.accept("ops", payload(alert("Other", "critical")))
    assert notifier.wait("ops", queued=2)
    assert len(robots.received) == 1
    assert "lower per_minute" in notifier.text_of_log()


@pytest.mark.parametrize("answer", ["invalid_blocks", "invalid_payload"])
def test_slack_gets_plain_text_where_it_refuses_blocks(robots, notify, channel, answer):
    notifier = notify(ops=channel(SLACK))
    robots.answer(SLACK, answer)
    notifier.accept("ops", payload())
    (message,) = robots.wait(1)
    assert "blocks" not in message.body and "GpuMemoryHigh" in message.text


def test_one_broken_receiver_does_not_hold_up_the_others(robots, notify, channel, mail_server):
    robots.answer(WEBHOOK, "stall")
    robots.answer(SLACK, "channel_not_found")
    notifier = notify(hangs=channel(WEBHOOK), slack=channel(SLACK), ops=channel(DINGTALK))
    for name in ("hangs", "slack", "ops"):
        assert notifier.accept(name, payload()) == "ok"
    robots.wait(1, DINGTALK, seconds=5)
    notifier.wait("slack", queued=0)
    assert notifier.status("hangs")["queued"] == 1
    # And it ends while one of them hangs.
    notifier.stop()


def test_nothing_is_lost_when_it_is_killed(robots, notify, channel):
    # Of a budget of three at once most wait when it dies.
    table = channel(WECOM)
    notifier = notify(ops=table)
    for i in range(30):
        assert notifier.accept("ops", payload(alert(f"Kept{i:02}x"))) == "ok"
    notifier.kill()
    again = notify(ops=table)
    again.wait("ops", queued=0)
    texts = [message.text for message in robots.taken()]
    for i in range(30):
        holding = sum(f"Kept{i:02}x" in text for text in texts)
        # The one whose answer was on its way may come twice.
        assert 1 <= holding <= 2
    assert sum("digest of" in text for text in texts) >= 1


def test_a_secret_may_come_late_and_change(robots, notify, channel, write):
    robots.secrets = {DINGTALK: "SECnew"}
    table = channel(DINGTALK)
    write("dingtalk.secret", "SECold")
    notifier = notify(ops=table)
    notifier.accept("ops", payload())
    notifier.wait("ops", queued=0)
    assert notifier.status("ops")["failed_total"]["security"] == 1
    write("dingtalk.secret", "SECnew\n")
    notifier.accept("ops", payload())
    robots.wait(1)


def test_secrets_may_come_from_the_environment(robots, notify):
    robots.secrets = {FEISHU: "from-env-secret"}
    table = {"type": FEISHU, "url_env": "BOT_URL", "secret_env": "BOT_SECRET"}
    notifier = notify({"BOT_URL": robots.url(FEISHU), "BOT_SECRET": "from-env-secret"}, ops=table)
    notifier.accept("ops", payload())
    robots.wait(1)


def test_a_payload_that_is_none_is_refused(robots, notify, channel):
    notifier = notify(ops=channel(WEBHOOK))
    assert notifier.ask("ops {}").startswith("invalid_argument: not a webhook payload of Alertmanager: version")
    assert notifier.ask("other {}").startswith("not_found")
    assert notifier.status("ops")["queued"] == 0


def test_a_label_calls_nobody(robots, notify, channel):
    hostile = "@all <@everyone> <at id=all></at> <!channel> [x](http://evil) **b**\nnew line"
    notifier = notify(**{kind: channel(kind) for kind in (DINGTALK, WECOM, FEISHU, SLACK)})
    for kind in (DINGTALK, WECOM, FEISHU, SLACK):
        notifier.accept(kind, payload(alert(hostile, annotations={"summary": hostile, hostile: hostile})))
    robots.wait(4)
    for message in robots.taken():
        text = message.text if message.channel != FEISHU else json.dumps(message.body["card"]["elements"])
        assert "<@" not in text and "<at " not in text and "<!" not in text
        # Slack links by <address|word> alone.
        assert "](http://evil" not in text or message.channel == SLACK
        if message.channel in (DINGTALK, WECOM):
            assert "@" not in text


def test_a_webhook_gets_alertmanagers_own_shape(robots, notify, channel):
    sent = payload(alert(), alert("B", status="resolved"))
    notifier = notify(ops=channel(WEBHOOK))
    notifier.accept("ops", sent)
    (message,) = robots.wait(1)
    assert message.body == sent


def test_a_gateway_of_text_messages_gets_its_form(robots, notify, channel, write):
    template = write("sms", "to={{ to }}&text={{ brief 40 }}&n={{ firing }}")
    more = {"template_file": template, "content_type": "application/x-www-form-urlencoded", "to": ["+4917", "138"]}
    notifier = notify(ops=channel(WEBHOOK, **more))
    notifier.accept("ops", payload(alert("A&B")))
    (message,) = robots.wait(1)
    assert message.raw.decode().startswith("to=%2B4917%2C138&text=FIRING%20A%26B%20%28warning%29")
    assert message.raw.decode().endswith("&n=1")
    assert message.headers["Content-Type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize("kind", ALL)
def test_a_sample_says_what_the_channel_answered(robots, notify, channel, kind):
    robots.secrets = SECRETS
    notifier = notify(ops=channel(kind))
    assert notifier.sample("ops").startswith("ok ")
    robots.wait(1)


def test_a_sample_tells_a_wrong_secret_and_a_clock_that_is_off(robots, notify, channel, write):
    robots.secrets = SECRETS
    table = channel(DINGTALK)
    robots.wall = lambda: time.time() + 7200
    notifier = notify(ops=table)
    said = notifier.sample("ops")
    assert "310000 invalid timestamp" in said and "clock" in said
    robots.wall = time.time
    write("dingtalk.secret", "SECwrong")
    assert "310000 sign not match" in notifier.sample("ops")
