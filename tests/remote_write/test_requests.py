# SPDX-License-Identifier: Apache-2.0
"""How a request looks, and who may send it."""

import base64
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from program import wait_until


class Listener:
    """Answers with `status`, or with `next_statuses` before (0: it hangs up), and keeps the headers
    of what came."""

    def __init__(self, certificate=None):
        self.status = 204
        self.next_statuses: list[int] = []
        self.requests: list[dict[str, str]] = []
        listener = self

        class Answer(BaseHTTPRequestHandler):
            # A connection is kept.
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                listener.requests.append(headers | {"path": self.path, "bytes": str(len(body))})
                status = listener.next_statuses.pop(0) if listener.next_statuses else listener.status
                if not status:
                    self.close_connection = True
                    return
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, certificate.with_suffix(".key"))
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server.server_port}/write"

    def wait_for_request(self) -> dict[str, str]:
        wait_until(lambda: self.requests, "a request")
        return self.requests[-1]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def listener():
    one = Listener()
    yield one
    one.close()


def write_secret(folder, text: str):
    path = folder / "secret"
    path.write_text(text + "\n")
    path.chmod(0o644)
    return path


def test_a_request_has_the_headers_that_the_specification_asks_for(send, listener):
    send(central={"url": listener.url, "step_seconds": 1, "tenant": "team-a"})
    request = listener.wait_for_request()
    assert request["path"] == "/write"
    assert request["content-encoding"] == "snappy"
    assert request["content-type"] == "application/x-protobuf"
    assert request["x-prometheus-remote-write-version"] == "0.1.0"
    assert request["user-agent"].startswith("everywatt/")
    assert request["x-scope-orgid"] == "team-a"
    assert "authorization" not in request


def test_a_bearer_token_is_read_again_when_its_file_changes(send, listener, folder):
    token = write_secret(folder, "first")
    send(central={"url": listener.url, "step_seconds": 1, "token_file": token})
    assert listener.wait_for_request()["authorization"] == "Bearer first"
    write_secret(folder, "second")
    wait_until(lambda: listener.requests[-1]["authorization"] == "Bearer second", "the new token")


def test_basic_authentication(send, listener, folder):
    password = write_secret(folder, "pa:ss")
    send(
        central={
            "url": listener.url,
            "step_seconds": 1,
            "username": "gpu",
            "password_file": password,
        }
    )
    expected = "Basic " + base64.b64encode(b"gpu:pa:ss").decode()
    assert listener.wait_for_request()["authorization"] == expected


def test_tls_with_a_certificate_of_ones_own(send, folder):
    certificate = folder / "receiver.crt"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout",
         certificate.with_suffix(".key")],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    certificate.chmod(0o644)
    listener = Listener(certificate)
    send(central={"url": listener.url, "step_seconds": 1, "ca_file": certificate})
    assert int(listener.wait_for_request()["bytes"]) > 0
    listener.close()


def test_what_is_refused_is_counted_and_not_sent_again(send, listener):
    listener.status = 400
    sending = send(central={"url": listener.url, "step_seconds": 1})
    wait_until(lambda: sending.counts("central")["failed_samples_total"] > 0, "a count")
    counts = sending.counts("central")
    assert counts["retries_total"] == 0
    assert counts["sent_samples_total"] == 0
    assert sending.failed_samples("central", "400") == counts["failed_samples_total"]
    # A rule can tell them from what is no loss, and from what never happened.
    assert sending.failed_samples("central", "400_repeated") == 0
    listener.status = 204
    wait_until(lambda: sending.counts("central")["sent_samples_total"] > 0, "samples")


def test_an_answer_that_got_lost_on_a_kept_connection_is_counted(send, listener):
    listener.next_statuses = [204, 0, 400]
    sending = send(central={"url": listener.url, "step_seconds": 1})
    wait_until(lambda: sending.counts("central")["failed_samples_total"] > 0, "a refusal")
    assert sending.counts("central")["retries_total"] == 1
    # The receiver may have had them already: that is no loss.
    assert sending.failed_samples("central", "400_repeated") > 0
    assert sending.failed_samples("central", "400") == 0
