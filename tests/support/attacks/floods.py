# SPDX-License-Identifier: BSD-2-Clause
"""Floods: attackers that wait for nothing, neither for room in a queue nor for an answer."""

import contextlib
import os
import socket
import time

from .. import keepers, users, wire
from .base import Attack, Kept, all_descriptors
from .leases import HoardByProxies

AT_ONCE = 50
MOST_FDS = 253  # of a message: SCM_MAX_FD of the kernel
MOST_KEPT = 900
FULL_S = 0.0005  # rest when a queue is full: the processor is not what is attacked


class Flooding(Attack):
    """What floods have in common: connections that do not wait."""

    def enter_queue(self):
        """A new connection; None: the queue is full."""
        try:
            return wire.connect_at_once(self.path)
        except BlockingIOError:
            time.sleep(FULL_S)
            return None


class Leaving(Flooding):
    """Connects and leaves."""

    def step(self):
        for _ in range(AT_ONCE):
            with self.enter_queue() or contextlib.nullcontext():
                pass


class HalfMessages(Flooding):
    """Sends the beginning of a request, and leaves."""

    half = wire.request()[:wire.HEADER.size + 8]

    def step(self):
        for _ in range(AT_ONCE):
            with self.enter_queue() or contextlib.nullcontext() as sock:
                if sock:
                    wire.send(sock, self.half)


class Descriptors(Flooding):
    """Sends messages of nothing but as many descriptors as they may have, and leaves."""

    messages, body = 4, b""

    def prepare(self):
        self._fds = [os.open("/dev/null", os.O_RDWR)] * MOST_FDS

    def step(self):
        with self.enter_queue() or contextlib.nullcontext() as sock:
            for _ in range(self.messages if sock else 0):
                wire.send(sock, self.body, self._fds)


class StatusQuestions(Descriptors):
    """The same with a question, which the daemon looks at before it serves it, with all that comes with it."""

    messages, body = 1, wire.question(op="status")


class Keeping(Flooding):
    """Keeps as many connections as it may have, and makes room for new ones."""

    def prepare(self):
        self._kept = Kept(min(MOST_KEPT, all_descriptors() - 64), socket.socket.close)

    def step(self):
        sock = self.enter_queue()
        if sock:
            self._kept.add(sock)


class KeeperFlood(Flooding):
    """Says it is a server that keeps spares, sends more than it may, and leaves."""

    notes = 64

    def step(self):
        with self.enter_queue() or contextlib.nullcontext() as sock:
            for i in range(self.notes if sock else 0):
                wire.send(sock, keepers.Note(keepers.KEEPER if not i else keepers.CONNECTED).packed())


class Busy(Attack):
    """No attack: uses a processor, for comparison."""

    def step(self):
        for _ in range(100000):
            pass


def by(processes, kind):
    """The same attack by so many processes of one user."""
    return type(kind.__name__, (kind,), {"uids": (users.ATTACKER,) * processes})


# By the names that they have in results.
FLOODS = {
    "leaving": Leaving,
    "half_messages": HalfMessages,
    "descriptors": Descriptors,
    "status_questions": StatusQuestions,
    "keeping": Keeping,
    "proxies": HoardByProxies,
    "keepers": KeeperFlood,
}
