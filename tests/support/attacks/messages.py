# SPDX-License-Identifier: BSD-2-Clause
"""Attacks with connections and messages: dear questions, answers that nobody reads, floods."""

import json
import os
import socket

from .. import wire
from ..client import NODE
from .base import Attack, Kept, all_descriptors

MOST_KEPT = 2000
RECIPES = 64
FLOOD = 32


def _long_recipes(attack):
    for i in range(RECIPES):
        attack.learn(b"long", attack.target.long, i)


class StatusStorm(Attack):
    """Asks for the status over and over, with many long recipes in it."""

    def prepare(self):
        _long_recipes(self)

    def step(self):
        with self.question(op="status") as sock:
            wire.close_all(wire.receive(sock)[1])


class Unread(Attack):
    """Keeps connections whose answers it does not read, and opens more."""

    rest_s = 0.001

    def prepare(self):
        self.kept = Kept(min(MOST_KEPT, all_descriptors() - 64), socket.socket.close)


class UnreadStatus(Unread):
    """Leaves answers about the status where they are, with the descriptors in them."""

    def step(self):
        self.kept.add(self.question(op="status"))


class UnreadRecipe(Unread):
    """The same with long answers about a recipe."""

    def prepare(self):
        super().prepare()
        self.learn(b"unread", self.target.long)
        with self.question(op="status") as sock:
            self._id = wire.answer(*wire.receive(sock))["recipes"][0]["id"]

    def step(self):
        self.kept.add(self.question(op="recipe", id=self._id))


class Flood(Attack):
    """Requests without pause, many at a time."""

    def step(self):
        socks = []
        try:
            for _ in range(FLOOD):
                socks.append(self.connect())
                fd = os.open(NODE, os.O_RDWR | os.O_CLOEXEC)
                wire.send(socks[-1], wire.request(b"flood"), [fd])
                os.close(fd)
            for sock in socks:
                wire.close_all(wire.receive(sock)[1])
        finally:
            for sock in socks:
                sock.close()


class Connections(Attack):
    """Keeps connections that were asked to record, and opens more."""

    rest_s = 0.001

    def prepare(self):
        self._kept = Kept(min(MOST_KEPT, all_descriptors() - 64), socket.socket.close)

    def step(self):
        sock, _, fds = self.ask(b"connections")
        wire.close_all(fds)
        self._kept.add(sock)


class Silent(Unread):
    """Connects and says nothing."""

    def step(self):
        self.kept.add(self.connect())


class Malformed(Attack):
    """Messages that break the protocol."""

    nonsense = (b"x", wire.request(version=99), wire.request(magic=7), wire.request(claimed=1 << 30),
                wire.message(wire.REQUEST, b"short"), wire.message(wire.RECORD, bytes(4096)), wire.report(),
                wire.message(99, b""), wire.message(wire.CONTROL, b"[" * 4000),
                wire.message(wire.CONTROL, json.dumps({"op": "explode"}).encode()))

    def prepare(self):
        self._null = os.open("/dev/null", os.O_RDWR)

    def step(self):
        for i, data in enumerate(self.nonsense):
            with self.connect() as sock:
                wire.send(sock, data, [self._null] * (i % 3))
                wire.close_all(wire.receive(sock)[1])
