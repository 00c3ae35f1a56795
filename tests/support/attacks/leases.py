# SPDX-License-Identifier: BSD-2-Clause
"""Attacks on what makes leases: builders, budgets, recipes and what is kept of them."""

import contextlib
import os
import socket

from .. import recordings, users, wire
from ..client import NODE
from .base import Attack, Kept, all_descriptors

PROGRAMS = 24
OPENS = 128
POOLS = 64
MOST_LEASES = 16  # of 8 MiB, as dear as the tests may be
MOST_UNREAD = 512
MARK = b"JUNK"
QUESTIONS = 100


class Hoard(Attack):
    """Takes leases and keeps them."""

    def prepare(self):
        self._kept = Kept(MOST_LEASES, wire.close_all)
        self.learn(b"hoard", self.target.dear)

    def step(self):
        fds = self.take(b"hoard")
        if not fds:
            raise BlockingIOError("no lease")
        self._kept.add(fds)


class HoardByProxies(Hoard):
    """The same by processes that each take one lease, pass its descriptors on, and end."""

    def take(self, name):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with ours, theirs:
            proxy = os.fork()
            if not proxy:
                with contextlib.suppress(OSError):
                    fds = super().take(name)
                    if fds:
                        socket.send_fds(theirs, [b"x"], fds)
                os._exit(0)
            os.waitpid(proxy, 0)
            theirs.close()
            return socket.recv_fds(ours, 1, wire.MAX_FDS)[1]


class UnreadLeases(Attack):
    """Takes leases but never receives the descriptors, and reports in advance."""

    def prepare(self):
        all_descriptors()
        self._kept = Kept(MOST_UNREAD, socket.socket.close)
        self.learn(b"unread", self.target.small)

    def step(self):
        sock = self.connect()
        fd = os.open(NODE, os.O_RDWR | os.O_CLOEXEC)
        wire.send(sock, wire.request(b"unread"), [fd])
        os.close(fd)
        head = sock.recv(wire.HEADER.size, socket.MSG_PEEK)
        if not head or wire.kind_of(head) != wire.LEASE:
            sock.close()
            raise BlockingIOError("no lease")
        wire.send(sock, wire.report())
        self._kept.add(sock)


class Drain(Attack):
    """Takes the leases of more dear recipes than its budget is for as soon as they are made, and drops them."""

    _turn = 0

    def prepare(self):
        for i in range(PROGRAMS):
            self.learn(b"drain %d" % i, self.target.dear)

    def step(self):
        self._turn = (self._turn + 1) % PROGRAMS
        wire.close_all(self.take(b"drain %d" % self._turn))


class Honest(Attack):
    """No attack: programs of one kind, one after the other without pause; for comparison."""

    def prepare(self):
        self.learn(b"honest", self.target.small)

    def step(self):
        wire.close_all(self.take(b"honest"))


class PoolStorm(Attack):
    """Changes as many pool requests as it may have, for a program of many opens, all the time."""

    def prepare(self):
        for i in range(OPENS):
            self.learn(b"pool", self.target.small, i)
        self._socks = [self.connect() for _ in range(POOLS)]

    def step(self):
        for i, sock in enumerate(self._socks):
            wire.send(sock, wire.pool(b"pool", POOLS - i))
        for sock in self._socks:
            if not wire.receive(sock)[0]:
                raise ConnectionResetError("disconnected")


class Recorder(Attack):
    """Sends a recording of another program each time; the daemon saves what it keeps."""

    rest_s = 0.02
    _n = 0

    def recording(self):
        return self.target.small

    def step(self):
        self._n += 1
        if not self.learn(b"recorder %d" % self._n, self.recording()):
            raise PermissionError("not asked to record")


class Questions(Recorder):
    """Recordings full of questions about the device that no program has."""

    def recording(self):
        return recordings.with_questions(self.target.small, MARK, QUESTIONS)


class ManyUsers(Drain):
    """Twenty users that have recordings, keep connections and drain pools."""

    uids = tuple(range(2100, 2120))
    rest_s = 0.02

    def prepare(self):
        super().prepare()
        self._kept = Kept(POOLS, socket.socket.close)

    def step(self):
        super().step()
        sock, _, fds = self.ask(b"connections")
        wire.close_all(fds)
        self._kept.add(sock)


class SubordinateUsers(ManyUsers):
    """The same by one user with subordinate ids (newuidmap): many uids, one login."""

    uids = tuple(users.SUBORDINATES)

    def enter(self, uid):
        users.become_subordinate(uid)
