#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chat robots on this machine: they check what they are sent as strictly as the real ones do, and show it.

    python tests/notify/robots.py --port 8060

shows at http://127.0.0.1:8060/ what DingTalk, WeCom, Feishu, Slack and a generic webhook received, and
refused. Tests use the class Robots, which also answers with any error that is asked for.
"""

import argparse
import base64
import hashlib
import hmac
import html
import json
import threading
import time
import urllib.parse
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DINGTALK, WECOM, FEISHU, SLACK, WEBHOOK = "dingtalk", "wecom", "feishu", "slack", "webhook"
PATHS = {
    DINGTALK: "/robot/send",
    WECOM: "/cgi-bin/webhook/send",
    FEISHU: "/open-apis/bot/v2/hook/",
    SLACK: "/services/",
    WEBHOOK: "/webhook",
}
SKEW_SECONDS = 3600
KEPT = 500


class Refusal(Exception):
    """What the robot answers instead: the HTTP status and the body."""

    def __init__(self, status, body, headers=None):
        super().__init__(str(body))
        self.status, self.body, self.headers = status, body, headers or {}


def coded(channel, code, words):
    key, text = ("code", "msg") if channel == FEISHU else ("errcode", "errmsg")
    return Refusal(200, {key: code, text: words})


# Every answer of a robot that is not success, by the name that a test asks for it with.
ANSWERS = {
    "busy": lambda channel: coded(channel, -1, "system busy"),
    "130101": lambda channel: coded(channel, 130101, "send too fast, exceed 20 times per minute"),
    "310000": lambda channel: coded(channel, 310000, "sign not match"),
    "300001": lambda channel: coded(channel, 300001, "token is not exist"),
    "90030": lambda channel: coded(channel, 90030, "webhook quota reached"),
    "460101": lambda channel: coded(channel, 460101, "message too long"),
    "40058": lambda channel: coded(channel, 40058, "markdown.content exceed max length 4096"),
    "93000": lambda channel: coded(channel, 93000, "invalid webhook url"),
    "45009": lambda channel: coded(channel, 45009, "api freq out of limit"),
    "19021": lambda channel: coded(channel, 19021, "sign match fail or timestamp is not within one hour"),
    "19022": lambda channel: coded(channel, 19022, "Ip Not Allowed"),
    "19024": lambda channel: coded(channel, 19024, "Key Words Not Found"),
    "9499": lambda channel: coded(channel, 9499, "Bad Request"),
    "11232": lambda channel: coded(channel, 11232, "frequency limited"),
    "empty": lambda channel: Refusal(200, ""),
    "html": lambda channel: Refusal(200, "<html><body>Please log in</body></html>"),
    "unknown": lambda channel: coded(channel, 77777, "who knows"),
    "redirect": lambda channel: Refusal(302, "", {"Location": "http://127.0.0.1:1/"}),
    "invalid_payload": lambda channel: Refusal(400, "invalid_payload"),
    "invalid_blocks": lambda channel: Refusal(400, "invalid_blocks"),
    "no_text": lambda channel: Refusal(400, "no_text"),
    "user_not_found": lambda channel: Refusal(400, "user_not_found"),
    "action_prohibited": lambda channel: Refusal(403, "action_prohibited"),
    "channel_not_found": lambda channel: Refusal(404, "channel_not_found"),
    "no_service": lambda channel: Refusal(404, "no_service"),
    "channel_is_archived": lambda channel: Refusal(410, "channel_is_archived"),
    "rollup_error": lambda channel: Refusal(500, "rollup_error"),
    "429": lambda channel: Refusal(429, "rate_limited", {"Retry-After": "2"}),
    "503": lambda channel: Refusal(503, "unavailable"),
    "401": lambda channel: Refusal(401, "unauthorized"),
}
# The answer never comes whole.
BROKEN = {"reset", "stall"}


def sign_dingtalk(secret, timestamp):
    text = f"{timestamp}\n{secret}".encode()
    return base64.b64encode(hmac.new(secret.encode(), text, hashlib.sha256).digest()).decode()


def sign_feishu(secret, timestamp):
    key = f"{timestamp}\n{secret}".encode()
    return base64.b64encode(hmac.new(key, b"", hashlib.sha256).digest()).decode()


def need(condition, refusal):
    if not condition:
        raise refusal


def only_keys(value, required, optional=()):
    """An object with these keys and no others."""
    return isinstance(value, dict) and set(required) <= set(value) <= set(required) | set(optional)


def check_dingtalk(robots, query, body, raw):
    secret = robots.secrets.get(DINGTALK)
    need(query.get("access_token"), coded(DINGTALK, 300001, "token is not exist"))
    if secret:
        stamp = query.get("timestamp", "0")
        fresh = stamp.isdigit() and abs(robots.wall() * 1000 - int(stamp)) < SKEW_SECONDS * 1000
        need(fresh, coded(DINGTALK, 310000, "invalid timestamp"))
        need(query.get("sign") == sign_dingtalk(secret, stamp), coded(DINGTALK, 310000, "sign not match"))
    need(len(raw) < 20000, coded(DINGTALK, 460101, "message too long"))
    shape = only_keys(body, ["msgtype", "markdown", "at"]) and body["msgtype"] == "markdown"
    shape = shape and only_keys(body["markdown"], ["title", "text"])
    shape = shape and only_keys(body["at"], [], ["atMobiles", "atUserIds", "isAtAll"])
    need(shape, coded(DINGTALK, 40035, "invalid parameter"))
    text = body["markdown"]["text"]
    keyword = robots.keywords.get(DINGTALK)
    need(not keyword or keyword in text, coded(DINGTALK, 310000, "keywords not in content"))
    # An @ is shown only where the number stands in the text, too.
    for mobile in body["at"].get("atMobiles", []):
        need(f"@{mobile}" in text, coded(DINGTALK, 40035, "a mobile that the text lacks"))
    return {"errcode": 0, "errmsg": "ok"}


def check_wecom(robots, query, body, raw):
    need(query.get("key"), coded(WECOM, 93000, "invalid webhook url"))
    kind = body.get("msgtype") if isinstance(body, dict) else None
    need(kind in ("markdown", "text") and only_keys(body, ["msgtype", kind]), coded(WECOM, 40008, "invalid message type"))
    most = 4096 if kind == "markdown" else 2048
    extra = [] if kind == "markdown" else ["mentioned_list", "mentioned_mobile_list"]
    need(only_keys(body[kind], ["content"], extra), coded(WECOM, 40035, "invalid parameter"))
    size = len(body[kind]["content"].encode())
    need(0 < size <= most, coded(WECOM, 40058, f"{kind}.content exceed max length {most}"))
    return {"errcode": 0, "errmsg": "ok"}


def check_feishu(robots, query, body, raw):
    need(len(raw) <= 20 * 1024, coded(FEISHU, 9499, "Bad Request: too large"))
    shape = only_keys(body, ["msg_type", "card"], ["timestamp", "sign"]) and body["msg_type"] == "interactive"
    shape = shape and only_keys(body["card"], ["config", "header", "elements"])
    need(shape and body["card"]["elements"], coded(FEISHU, 9499, "Bad Request"))
    secret = robots.secrets.get(FEISHU)
    if secret:
        stamp = body.get("timestamp", "")
        fresh = isinstance(stamp, str) and stamp.isdigit() and abs(robots.wall() - int(stamp)) < SKEW_SECONDS
        need(
            fresh and body.get("sign") == sign_feishu(secret, stamp),
            coded(FEISHU, 19021, "sign match fail or timestamp is not within one hour from current time"),
        )
    for element in body["card"]["elements"]:
        known = element.get("tag") in ("div", "hr", "note", "action", "markdown")
        need(known, coded(FEISHU, 9499, "Bad Request: unknown tag"))
    keyword = robots.keywords.get(FEISHU)
    need(not keyword or keyword in raw.decode(), coded(FEISHU, 19024, "Key Words Not Found"))
    return {"StatusCode": 0, "StatusMessage": "success", "code": 0, "data": {}, "msg": "success"}


def check_slack(robots, query, body, raw):
    need(isinstance(body, dict) and set(body) <= {"text", "blocks"}, Refusal(400, "invalid_payload"))
    need(body.get("text"), Refusal(400, "no_text"))
    need(len(body["text"]) <= 40000, Refusal(400, "msg_too_long"))
    blocks = body.get("blocks", [])
    need(len(blocks) <= 50, Refusal(400, "invalid_blocks"))
    for block in blocks:
        if block["type"] == "header":
            need(len(block["text"]["text"]) <= 150, Refusal(400, "invalid_blocks"))
        elif block["type"] == "section":
            need(0 < len(block["text"]["text"]) <= 3000, Refusal(400, "invalid_blocks"))
        else:
            need(block["type"] == "context" and block["elements"], Refusal(400, "invalid_blocks"))
    return "ok"


def check_webhook(robots, query, body, raw):
    return {"ok": True}


CHECKS = {
    DINGTALK: check_dingtalk,
    WECOM: check_wecom,
    FEISHU: check_feishu,
    SLACK: check_slack,
    WEBHOOK: check_webhook,
}
# Messages a span of seconds; what a robot of that kind takes.
RATES = {DINGTALK: [(20, 60)], WECOM: [(20, 60)], FEISHU: [(100, 60), (5, 1)], SLACK: [(4, 1)], WEBHOOK: []}
TOO_FAST = {DINGTALK: "130101", WECOM: "45009", FEISHU: "11232", SLACK: "429"}


@dataclass
class Message:
    channel: str
    target: str
    headers: dict
    raw: bytes
    body: object
    seconds: float
    answer: str = ""
    taken: bool = False

    @property
    def text(self):
        """What a person would read."""
        body = self.body
        if self.channel == DINGTALK:
            return body["markdown"]["text"]
        if self.channel == WECOM:
            return body[body["msgtype"]]["content"]
        if self.channel == FEISHU:
            lines = [body["card"]["header"]["title"]["content"]]
            for element in body["card"]["elements"]:
                lines += [e["content"] for e in element.get("elements", [element.get("text", {})]) if "content" in e]
            return "\n".join(lines)
        if self.channel == SLACK:
            return body["text"]
        return self.raw.decode(errors="replace")


@dataclass
class Robots:
    """All robots of one address; each checks signature, size, rate and shape.

    `secrets` and `keywords` are the security settings by channel. `answer(channel, name)` makes the
    next message be answered with an error of ANSWERS, or with "reset" or "stall".
    """

    port: int = 0
    secrets: dict = field(default_factory=dict)
    keywords: dict = field(default_factory=dict)
    wall: object = time.time
    has_rates: bool = True

    def __post_init__(self):
        self.received = deque(maxlen=KEPT)
        self.errors = {}
        self.blocked_until = {}
        self.lock = threading.Lock()
        self.came = threading.Condition(self.lock)
        self.ended = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), self.handler_class())
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def url(self, channel):
        ends = {DINGTALK: "?access_token=0123456789abcdef0123456789abcdef", WECOM: "?key=693axxx6-7aoc-4bc4-97a0-0ec2sifa5aaa"}
        ends |= {FEISHU: "0d8f3c5a-71b2-4c0f-9a3e-2f6b8d1c4e7a", SLACK: "T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"}
        return f"http://127.0.0.1:{self.port}{PATHS[channel]}{ends.get(channel, '')}"

    def answer(self, channel, *names):
        for name in names:
            assert name in ANSWERS or name in BROKEN, name
        with self.lock:
            self.errors.setdefault(channel, deque()).extend(names)

    def taken(self, channel=None):
        with self.lock:
            return [m for m in self.received if m.taken and channel in (None, m.channel)]

    def wait(self, count, channel=None, seconds=20.0):
        """The messages taken, as soon as there are so many."""

        def enough():
            return sum(m.taken and channel in (None, m.channel) for m in self.received) >= count

        with self.came:
            assert self.came.wait_for(enough, seconds), f"only {[m.answer for m in self.received]} came"
        return self.taken(channel)

    def check_rate(self, channel, now):
        if not self.has_rates:
            return
        blocked = now < self.blocked_until.get(channel, 0)
        for count, span in RATES[channel]:
            recent = sum(m.channel == channel and now - m.seconds < span for m in self.received)
            if blocked or recent > count:
                # DingTalk lets a robot that goes over wait for ten minutes.
                if channel == DINGTALK and not blocked:
                    self.blocked_until[channel] = now + 600
                raise ANSWERS[TOO_FAST[channel]](channel)

    def take(self, message, query):
        """The status, body and headers to answer with; None to answer nothing."""
        channel = message.channel
        with self.came:
            self.received.append(message)
            errors = self.errors.get(channel)
            forced = errors.popleft() if errors else None
            try:
                if forced in BROKEN:
                    message.answer = forced
                    return None
                if forced:
                    raise ANSWERS[forced](channel)
                self.check_rate(channel, message.seconds)
                body = CHECKS[channel](self, query, message.body, message.raw)
                message.taken = True
                message.answer = "ok"
                return 200, body, {}
            except Refusal as refusal:
                message.answer = str(refusal)
                return refusal.status, refusal.body, refusal.headers
            except (KeyError, TypeError, AttributeError) as fault:
                message.answer = f"wrong shape: {fault!r}"
                return 400, "invalid_payload", {}
            finally:
                self.came.notify_all()

    def handler_class(robots):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                target = urllib.parse.urlsplit(self.path)
                channel = next((c for c, path in PATHS.items() if target.path.startswith(path)), None)
                if channel is None:
                    return self.send(404, "there is no robot")
                try:
                    body = json.loads(raw)
                except ValueError:
                    body = None
                query = dict(urllib.parse.parse_qsl(target.query))
                message = Message(channel, self.path, dict(self.headers), raw, body, robots.wall())
                answer = robots.take(message, query)
                if answer is None:
                    if message.answer == "stall":
                        robots.ended.wait(60)
                    self.close_connection = True
                    return None
                return self.send(answer[0], answer[1], **answer[2])

            def do_GET(self):
                if self.path == "/received.json":
                    with robots.lock:
                        rows = [
                            {"channel": m.channel, "taken": m.taken, "answer": m.answer, "text": m.text if m.taken else ""}
                            for m in robots.received
                        ]
                    return self.send(200, rows)
                if self.path != "/":
                    return self.send(404, "not here")
                return self.send(200, page(robots), **{"Content-Type": "text/html; charset=utf-8"})

            def send(self, status, body, **headers):
                is_text = isinstance(body, str)
                content = (body if is_text else json.dumps(body)).encode()
                self.send_response(status)
                headers.setdefault("Content-Type", "text/plain" if is_text else "application/json")
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *arguments):
                pass

        return Handler


PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Chat robots</title>
<meta http-equiv="refresh" content="3"><style>
body{{font:15px/1.5 sans-serif;margin:2em auto;max-width:60em;padding:0 1em}}
article{{border:1px solid #bbb;border-left:6px solid #188038;border-radius:4px;margin:1em 0;padding:.5em 1em}}
article.refused{{border-left-color:#d93025}}pre{{white-space:pre-wrap;margin:.3em 0}}small{{color:#555}}
</style></head><body><h1>Chat robots</h1><p>{count} messages, newest first.</p>{articles}</body></html>"""


def page(robots):
    articles = []
    with robots.lock:
        messages = list(robots.received)
    for message in reversed(messages):
        text = message.text if message.taken else message.raw.decode(errors="replace")
        when = time.strftime("%H:%M:%S", time.localtime(message.seconds))
        articles.append(
            f'<article class="{"taken" if message.taken else "refused"}"><small>{when} {message.channel}, '
            f"{len(message.raw)} bytes: {html.escape(message.answer)}</small><pre>{html.escape(text)}</pre></article>"
        )
    return PAGE.format(count=len(messages), articles="".join(articles))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8060)
    parser.add_argument("--dingtalk-secret", default="", help="ask for this signing secret")
    parser.add_argument("--feishu-secret", default="", help="ask for this signing secret")
    parser.add_argument("--urls", action="store_true", help="print the robots' addresses and go on")
    arguments = parser.parse_args()
    robots = Robots(arguments.port, {DINGTALK: arguments.dingtalk_secret, FEISHU: arguments.feishu_secret})
    print(f"what the robots received: http://127.0.0.1:{robots.port}/", flush=True)
    for channel in PATHS if arguments.urls else ():
        print(f"{channel}: {robots.url(channel)}", flush=True)
    try:
        robots.thread.join()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
