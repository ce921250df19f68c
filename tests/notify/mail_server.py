# SPDX-License-Identifier: Apache-2.0
"""A mail server on this machine: STARTTLS or TLS from the first byte, AUTH PLAIN and LOGIN, and any
refusal that a test asks for."""

import base64
import socketserver
import ssl
import subprocess
import threading
from collections import deque
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from pathlib import Path


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A self-signed one for 127.0.0.1 and localhost, and its key."""
    certificate, key = folder / "server.crt", folder / "server.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        + ["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
        check=True,
        capture_output=True,
    )
    return certificate, key


@dataclass
class Mail:
    sender: str
    recipients: list
    raw: bytes
    encrypted: bool
    user: str

    @property
    def parsed(self):
        return message_from_bytes(self.raw, policy=policy.default)


@dataclass
class MailServer:
    """`refusals` are answered to RCPT, one after another, before it takes any more."""

    certificate: Path
    key: Path
    users: dict = field(default_factory=dict)
    starttls: bool = True
    implicit_tls: bool = False

    def __post_init__(self):
        self.mails, self.refusals, self.commands = [], deque(), []
        self.came = threading.Condition()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, self.key)
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), session_class(self))
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def wait(self, count, seconds=20.0):
        with self.came:
            assert self.came.wait_for(lambda: len(self.mails) >= count, seconds), self.commands
        return self.mails


def session_class(server):
    class Session(socketserver.BaseRequestHandler):
        def setup(self):
            self.is_encrypted = False
            if server.implicit_tls:
                self.encrypt()
            self.start()

        def start(self):
            self.lines = self.request.makefile("rb")
            self.sender, self.recipients, self.user = "", [], ""

        def encrypt(self):
            self.request = server.context.wrap_socket(self.request, server_side=True)
            self.is_encrypted = True

        def say(self, text):
            self.request.sendall(text.encode() + b"\r\n")

        def handle(self):
            try:
                self.say("220 mail.example")
                while self.serve_line():
                    pass
            except (OSError, ssl.SSLError):
                pass

        def serve_line(self):
            line = self.lines.readline()
            if not line:
                return False
            command = line.decode().strip()
            verb = command.upper().split(" ")[0].split(":")[0]
            server.commands.append(verb)
            act = getattr(self, f"on_{verb.lower()}", None)
            if act is None:
                self.say("502 unknown")
                return True
            return act(command) is not False

        def on_ehlo(self, command):
            offers = ["mail.example", "8BITMIME"]
            if server.starttls and not self.is_encrypted:
                offers.append("STARTTLS")
            if server.users and (self.is_encrypted or not server.starttls):
                offers.append("AUTH PLAIN LOGIN")
            for offer in offers[:-1]:
                self.say(f"250-{offer}")
            self.say(f"250 {offers[-1]}")

        def on_starttls(self, command):
            self.say("220 go ahead")
            self.encrypt()
            self.start()

        def on_auth(self, command):
            words = command.split(" ")
            if words[1].upper() == "PLAIN":
                initial = words[2] if len(words) > 2 else self.ask("")
                _, user, password = base64.b64decode(initial).decode().split("\0")
            else:
                user = base64.b64decode(words[2] if len(words) > 2 else self.ask("VXNlcm5hbWU6")).decode()
                password = base64.b64decode(self.ask("UGFzc3dvcmQ6")).decode()
            if server.users.get(user) != password:
                return self.say("535 5.7.8 authentication failed")
            self.user = user
            return self.say("235 welcome")

        def ask(self, challenge):
            self.say(f"334 {challenge}")
            return self.lines.readline().decode().strip()

        def on_mail(self, command):
            if server.users and not self.user:
                return self.say("530 authentication required")
            self.sender = command.partition("<")[2].partition(">")[0]
            return self.say("250 ok")

        def on_rcpt(self, command):
            if server.refusals:
                return self.say(server.refusals.popleft())
            self.recipients.append(command.partition("<")[2].partition(">")[0])
            return self.say("250 ok")

        def on_data(self, command):
            self.say("354 go on")
            raw = b""
            while (line := self.lines.readline()) != b".\r\n":
                if not line:
                    return False
                assert line.endswith(b"\r\n") and len(line) <= 1000, line
                raw += line[1:] if line.startswith(b".") else line
            with server.came:
                server.mails.append(Mail(self.sender, self.recipients, raw, self.is_encrypted, self.user))
                server.came.notify_all()
            self.sender, self.recipients = "", []
            return self.say("250 taken")

        def on_rset(self, command):
            self.say("250 ok")

        def on_noop(self, command):
            self.say("250 ok")

        def on_quit(self, command):
            self.say("221 bye")
            return False

    return Session
