# SPDX-License-Identifier: BSD-2-Clause
"""What all attacks share, and the processes that play them."""

import functools
import mmap
import os
import resource
import signal
import struct
import time
import unittest
from dataclasses import dataclass

from .. import client, users

QUIET_S = 3  # without a step: the daemon refuses all
LIMIT_S = 100
REFUSED_S = 0.002  # rest after a refusal: what is attacked is the daemon, not the processor
UNPREPARED_S = 0.1
STEPS = struct.Struct("<Q")


class Impossible(unittest.SkipTest):
    """This machine does not let the attack begin; the text says why."""


@dataclass(frozen=True)
class Target:
    """Where to attack, and what to attack with."""

    socket: str
    small: bytes  # recordings: of one queue pair
    long: bytes   # of many objects
    dear: bytes   # of much memory
    scratch: str  # a folder that everybody may write to


class Attack(client.Client):
    """One hostile user: prepare() once, then step() without pause. Both may raise OSError when the daemon refuses."""

    uids = (users.ATTACKER,)  # each plays the attack in a process of its own
    with_pairs = False        # only a daemon with pairs has what is attacked
    rest_s = 0.0              # after each step, where the attack's point is not how often

    def __init__(self, target):
        super().__init__(target.socket)
        self.target = target

    def prepare(self):
        """Before the first step."""

    def step(self):
        raise NotImplementedError

    def enter(self, uid):
        """Becomes the hostile user."""
        users.become(uid)


class Kept:
    """At most @most open things, so that the attack's load is bounded; the oldest ends first."""

    def __init__(self, most, end):
        self._most, self._end, self._all = most, end, []

    def add(self, thing):
        self._all.append(thing)
        if len(self._all) > self._most:
            self._end(self._all.pop(0))


def all_descriptors():
    """As many descriptors as this user may have at most."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def _step(attack):
    try:
        attack.step()
        return 1
    except OSError:  # refused, or not answered in time
        time.sleep(REFUSED_S)
        return 0


def _prepare(attack):
    """Whether the daemon let the attack prepare."""
    try:
        attack.prepare()
        return True
    except OSError:
        time.sleep(UNPREPARED_S)
        return False


def _begin(attack, uid, ready):
    """Prepares for as long as it takes. An attack that is refused from the start goes on, too."""
    attack.enter(uid)
    try:
        prepared = _prepare(attack)
    except Impossible as why:
        os.write(ready, str(why).encode())
        return False
    os.write(ready, b"\n")
    while not prepared:
        prepared = _prepare(attack)
    return True


def _limit(nofile):
    if nofile:
        resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))


def _play(attack, uid, ready, steps):
    if not _begin(attack, uid, ready):
        return
    done = 0
    while True:
        done += _step(attack)
        steps[:] = STEPS.pack(done)
        if attack.rest_s:
            time.sleep(attack.rest_s)


class _Player:
    """The process of one hostile user; limit() is called in it first."""

    def __init__(self, attack, uid, limit):
        self._steps = mmap.mmap(-1, STEPS.size)
        self._ready, ready = os.pipe()

        def play():
            limit()
            _play(attack, uid, ready, self._steps)
        self._pid = users.fork(play)
        os.close(ready)

    @property
    def steps(self):
        return STEPS.unpack(self._steps[:])[0]

    def await_ready(self):
        """Waits until the attack goes on; raises Impossible if it cannot."""
        with open(self._ready, "rb") as pipe:
            said = pipe.read(1)
            if said != b"\n":
                rest = pipe.read()
                raise Impossible((said + rest).decode()) if said else AssertionError("the attacker failed, see above")

    def stop(self):
        os.kill(self._pid, signal.SIGKILL)
        _, status = os.waitpid(self._pid, 0)
        return status


class Going:
    """Attacks that go on while the block lasts, each with @nofile descriptors at most."""

    def __init__(self, attacks, nofile=None):
        self._attacks = attacks
        self._limit = functools.partial(_limit, nofile)
        self._players = []

    @property
    def steps(self):
        """How many steps were made and not refused."""
        return sum(player.steps for player in self._players)

    def await_steps(self, n):
        """Waits until @n steps were made, or the daemon refuses all further ones."""
        begin = since = time.monotonic()
        last = self.steps
        while last < n and time.monotonic() - since < QUIET_S:
            if time.monotonic() - begin > LIMIT_S:
                raise AssertionError(f"only {last} of {n} steps within {LIMIT_S} s")
            time.sleep(0.01)
            if self.steps != last:
                last, since = self.steps, time.monotonic()

    def __enter__(self):
        try:
            for attack in self._attacks:
                self._players += [_Player(attack, uid, self._limit) for uid in attack.uids]
            for player in self._players:
                player.await_ready()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_):
        statuses = self._stop()
        if any(status != signal.SIGKILL for status in statuses):
            raise AssertionError(f"an attacker ended by itself, see above: {statuses}")

    def _stop(self):
        statuses = [player.stop() for player in self._players]
        self._players = []
        return statuses
