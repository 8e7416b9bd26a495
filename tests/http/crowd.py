# SPDX-License-Identifier: GPL-2.0-or-later
"""Clients of all kinds, many at a time, for the load test and its short form in tests/http."""

import asyncio
import random
import socket
import time

HOST = "127.0.0.1"


class Polls:
    """Clients that ask for something, wait a while on the same connection, and ask again."""

    def __init__(self, port, path, headers=""):
        self.port, self.path, self.headers = port, path, headers  # path(): of the next request
        self.took_s, self.statuses, self.reconnects = [], {}, 0

    async def client(self, mean_s, until):
        reader = writer = None
        await asyncio.sleep(random.random() * mean_s)
        while time.monotonic() < until:
            started = time.perf_counter()
            try:
                if not writer:
                    reader, writer = await asyncio.open_connection(HOST, self.port, limit=1 << 20)
                writer.write(f"GET {self.path()} HTTP/1.1\r\nHost: localhost\r\n{self.headers}\r\n".encode())
                head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 60)
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await asyncio.wait_for(reader.readexactly(length), 60)
            except (OSError, asyncio.IncompleteReadError):
                # a connection that was closed while it was idle: asked again, on a new one
                self.reconnects += 1
                writer = None
                continue
            self.took_s.append(time.perf_counter() - started)
            status = int(head.split()[1])
            self.statuses[status] = self.statuses.get(status, 0) + 1
            await asyncio.sleep(random.expovariate(1 / mean_s))
        if writer:
            writer.close()

    def run(self, clients, mean_s, seconds):
        async def all_of_them():
            until = time.monotonic() + seconds
            await asyncio.gather(*(self.client(mean_s, until) for _ in range(clients)))
        asyncio.run(all_of_them())
        self.took_s.sort()

    def quantile_ms(self, q):
        return self.took_s[min(len(self.took_s) - 1, int(q * len(self.took_s)))] * 1000


def idle(port, count):
    """So many connections that say nothing, all at once; those that were refused are none."""
    found = []
    for _ in range(count):
        s = socket.socket()
        s.setblocking(False)
        s.connect_ex((HOST, port))
        found.append(s)
    return found


def still_open(sockets):
    count = 0
    for s in sockets:
        try:
            count += s.recv(1) != b""
        except BlockingIOError:
            count += 1
        except OSError:
            pass
    return count


def drips(port, count, heads):
    """Clients that send a byte now and then, each with one of the heads; drip() again and again."""
    found = []
    for n in range(count):
        s = socket.create_connection((HOST, port), 10)
        s.sendall(heads[n % len(heads)])
        s.setblocking(False)
        found.append(s)
    return found


def drip(sockets):
    for s in sockets:
        try:
            s.send(b"x")
        except OSError:
            pass


def drip_heads(submit_path, headers=""):
    return [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
            f"POST {submit_path} HTTP/1.1\r\nHost: localhost\r\n{headers}Content-Type: text/plain\r\n"
            "Content-Length: 1000000\r\n\r\n".encode()]
