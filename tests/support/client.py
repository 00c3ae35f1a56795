# SPDX-License-Identifier: BSD-2-Clause
"""A client of a daemon that speaks the protocol by hand, as the user whom this process is."""

import contextlib
import os
import select
import socket
import time

from . import wire

NODE = "/dev/infiniband/uverbs0"
ANSWER_S = 5
PATIENCE_S = 0.05  # of a program, whose connect() does not wait either


class Client:
    """Its methods raise OSError where the daemon refuses, disconnects or does not answer in time."""

    def __init__(self, path):
        self.path = path

    def connect(self):
        sock = wire.connect(self.path)
        sock.settimeout(ANSWER_S)
        return sock

    def ask(self, name, open_number=0):
        """Requests a lease; returns the connection, the answer and its descriptors, which are the caller's."""
        with contextlib.ExitStack() as stack:
            sock = stack.enter_context(self.connect())
            fd = os.open(NODE, os.O_RDWR | os.O_CLOEXEC)
            stack.callback(os.close, fd)
            wire.send(sock, wire.request(name, open_number), [fd])
            data, fds = wire.receive(sock)
            if not data:
                raise ConnectionResetError("disconnected")
            stack.pop_all()
            os.close(fd)
            return sock, data, fds

    def take(self, name):
        """A lease's descriptors; none if there is no lease. The connection is closed."""
        sock, _, fds = self.ask(name)
        sock.close()
        return fds

    def learn(self, name, recording, open_number=0):
        """Has the daemon learn @recording; whether it asked for it."""
        sock, data, fds = self.ask(name, open_number)
        with sock:
            wire.close_all(fds)
            wanted = wire.no_lease_reason(data) == wire.PLEASE_RECORD
            if wanted:
                wire.send(sock, wire.record(recording))
                sock.shutdown(socket.SHUT_WR)
                wire.receive(sock)  # until the daemon closes
            return wanted

    def question(self, **words):
        """Asks a question and leaves the answer where it is; returns the connection."""
        sock = self.connect()
        wire.send(sock, wire.question(**words))
        return sock

    def answer(self, **words):
        """The daemon's answer to a question."""
        with self.question(**words) as sock:
            return wire.answer(*wire.receive(sock))

    def leases(self, name, n, rest_s):
        """Requests @n leases, one after the other; how many it got, and the seconds that each answer took."""
        got, waits = 0, []
        for _ in range(n):
            begin = time.monotonic()
            fds = []
            with contextlib.suppress(OSError):
                fds = self.take(name)
            waits.append(time.monotonic() - begin)
            wire.close_all(fds)
            got += bool(fds)
            time.sleep(rest_s)
        return got, waits

    def hurried(self, name, n, rest_s):
        """Requests @n leases as programs do, which soon go on without; how many it got."""
        node = os.open(NODE, os.O_RDWR | os.O_CLOEXEC)
        got = 0
        for _ in range(n):
            with contextlib.suppress(OSError), wire.connect_at_once(self.path) as sock:
                wire.send(sock, wire.request(name), [node])
                if select.select([sock], [], [], PATIENCE_S)[0]:
                    fds = wire.receive(sock)[1]
                    got += bool(fds)
                    wire.close_all(fds)
            time.sleep(rest_s)
        os.close(node)
        return got
