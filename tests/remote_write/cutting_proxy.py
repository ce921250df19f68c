# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that cuts connections off at random points: the same ones for the same seed, as far as
the traffic is the same."""

import itertools
import random
import re
import socket
import struct
import threading

CHUNK = 4096
ENDLESS = 1 << 60


class CuttingProxy:
    """Every connection ends in one of three ways: within a request, after some requests, or when a
    request was taken and its answer is on its way: then nobody but the receiver knows."""

    def __init__(self, target_port: int, seed: int):
        self.target_port = target_port
        self.bodies: list[bytes] = []  # of the requests that went through whole
        self.is_cutting = True
        self._random = random.Random(seed)
        # In turn, so that each comes to pass: first of all an answer that is lost.
        self._ways = itertools.cycle((2, 0, 2, 1))
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def has_passed_one_twice(self) -> bool:
        with self._lock:
            return len(self.bodies) > len(set(self.bodies))

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            budgets = self._choose_budgets()
            threading.Thread(target=self._serve, args=(client, budgets), daemon=True).start()

    def _choose_budgets(self) -> tuple[int, int]:
        """Bytes to the receiver and back."""
        if not self.is_cutting:
            return ENDLESS, ENDLESS
        way = next(self._ways)
        if way == 0:
            return self._random.randrange(4_000), ENDLESS
        if way == 1:
            return self._random.randrange(10_000), ENDLESS
        return ENDLESS, self._random.randrange(60)

    def _serve(self, client: socket.socket, budgets: tuple[int, int]) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target_port), timeout=5)
        except OSError:
            client.close()
            return
        threads = [
            threading.Thread(target=self._copy, args=way, daemon=True)
            for way in (
                (client, server, budgets[0], self._keep_bodies),
                (server, client, budgets[1], lambda passed: passed),
            )
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for end in (client, server):
            end.close()

    def _keep_bodies(self, passed: bytes) -> bytes:
        """What is left of it behind the last whole request."""
        while (begin := passed.find(b"\r\n\r\n") + 4) >= 4:
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", passed[:begin])
            end = begin + int(length[1])
            if len(passed) < end:
                break
            with self._lock:
                self.bodies.append(passed[begin:end])
            passed = passed[end:]
        return passed

    def _copy(self, source: socket.socket, target: socket.socket, budget: int, look):
        unread = b""
        try:
            while part := source.recv(CHUNK):
                target.sendall(part[:budget])
                unread = look(unread + part[:budget])
                budget -= len(part)
                if budget < 0:
                    # Both ends see a reset, as when a machine between them forgets the connection.
                    for end in (source, target):
                        end.setsockopt(
                            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                        )
                    break
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
