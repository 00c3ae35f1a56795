# SPDX-License-Identifier: BSD-2-Clause
"""Floods: attackers that wait for nothing, neither for room in a queue nor for an answer."""

import contextlib
import fcntl
import os
import select
import socket
import struct
import termios
import time

from .. import keepers, users, wire
from .base import Attack, Kept, all_descriptors
from .leases import HoardByProxies

AT_ONCE = 50
MOST_FDS = 253  # of a message: SCM_MAX_FD of the kernel
MOST_KEPT = 900
FULL_S = 0.0005  # rest when a queue is full: the processor is not what is attacked
HEARD_S = 60  # in which a daemon hears one connection to the end


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


def n_unread(sock):
    """Bytes that the other side has not received."""
    return struct.unpack("i", fcntl.ioctl(sock, termios.TIOCOUTQ, bytes(4)))[0]


class KeeperFlood(Flooding):
    """Says it is a server that keeps spares, tells of many connections and of pairs that nobody knows, and leaves."""

    with_pairs = True
    notes = [keepers.Note(keepers.KEEPER).packed()] + [
        keepers.Note(word, pair=i + 1, gid=bytes([i + 1] * 16), peer_gid=bytes([i + 2] * 16), qp_num=i + 1,
                     peer_qp_num=i + 2).packed()
        for i in range(16)
        for word in (keepers.CONNECTED, keepers.USED, keepers.DROP, keepers.DROPPED)]

    def prepare(self):
        """If the daemon refused what the attack says, nothing would be attacked."""
        end = time.monotonic() + HEARD_S
        while not self._is_heard():
            if time.monotonic() > end:
                raise AssertionError("the daemon does not hear out who says it is a server with spares")

    def _is_heard(self):
        """Whether the daemon has received all notes of a connection, and keeps it."""
        with contextlib.suppress(OSError), self.connect() as sock:
            for note in self.notes:
                wire.send(sock, note)
            while n_unread(sock):
                if select.select([sock], [], [], FULL_S)[0]:
                    return False  # it is closed
            return not select.select([sock], [], [], FULL_S)[0]
        return False

    def step(self):
        with self.enter_queue() or contextlib.nullcontext() as sock:
            for note in self.notes if sock else ():
                wire.send(sock, note)


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
