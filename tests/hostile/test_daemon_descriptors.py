#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors and a disk that make the daemon wait: nobody else waits with it."""

import contextlib
import resource
import socket
import time

from support import attacks, bed, hostile, users

QUESTIONS = 5
LEASES = 5
FSYNC_S = 60
SENDING_S = 10
ON_THEIR_WAY = 256  # descriptors
TRIES = 3


def ask(client):
    """A daemon that has no descriptor left turns a connection away, at once."""
    for _ in range(TRIES - 1):
        with contextlib.suppress(ConnectionError):
            return client.answer(op="status")
    return client.answer(op="status")


class Waits(hostile.Case):
    def check_answered(self):
        """Another user's questions and requests are answered at once."""
        begin = time.monotonic()
        for _ in range(QUESTIONS):
            self.as_user(users.VICTIM, ask, self.client)
        got, _ = self.victim_leases(LEASES, 0.1)
        self.assertGreater(got, 0)
        self.assertLess(time.monotonic() - begin, hostile.HANG_S)


class Descriptors(Waits):
    """Closing the first two kinds takes as long as the attacker likes; the others must not begin to do harm."""

    def check(self, kind, steps):
        self.victim_learns()
        with self.going(kind) as going:
            going.await_steps(steps)
            self.check_answered()

    def test_lingering_socket(self):
        self.assertLess(hostile.HANG_S, attacks.LingeringSocket.linger_s)
        self.check(attacks.LingeringSocket, 5)

    def test_fuse_file(self):
        self.check(attacks.FuseFile, 1)

    def test_device_file(self):
        self.check(attacks.BigUfile, 2)

    def test_no_device(self):
        self.check(attacks.NoDevice, 5)


class OwnEnd(hostile.Case):
    """A client's end of its connection waits on this connection, behind a question whose answer nobody reads."""

    connections = 20

    def leave(self, *before):
        for _ in range(self.connections):
            with self.client.question(op="status") as sock:
                for message in before:
                    sock.send(message)
                socket.send_fds(sock, [b"own end"], [sock.fileno()])

    def check(self, *before):
        others = self.daemon.n_connected_at_rest()
        self.as_user(users.ATTACKER, self.leave, *before)
        bed.until(lambda: self.daemon.n_connected() <= others, "the end of all connections")

    def test_unread_answer(self):
        self.check()

    def test_after_what_is_no_message(self):
        self.check(b"", b"no message")


class FewOnTheirWay(attacks.FuseFile):
    """With the limit that users have if nobody raises it: the kernel lets them send no more descriptors at a time."""

    def prepare(self):
        resource.setrlimit(resource.RLIMIT_NOFILE, (ON_THEIR_WAY, ON_THEIR_WAY))
        super().prepare()


class ManyDescriptors(Waits):
    """What cannot be closed does not use up the descriptors of all, however long the attack goes on."""

    nofile = 4 * ON_THEIR_WAY
    daemon_options = ("--max-leases", "32")

    def check(self, *kinds):
        self.victim_learns()
        with self.going(*kinds) as going:
            going.await_steps(1)
            time.sleep(SENDING_S)  # the longer, the more would pile up
            self.check_answered()

    def test_fuse_file(self):
        self.check(FewOnTheirWay)

    def test_questions_beside_it(self):
        """Connections on which no descriptors wait are closed, whatever else is on them."""
        self.check(FewOnTheirWay, attacks.UnreadStatus)


class SlowDisk(Waits):
    daemon_env = hostile.slow_disk(FSYNC_S * 1000)

    def tearDown(self):
        self.daemon.stop(bed.signal.SIGKILL)  # or it waits for its disk

    def test_slow_disk(self):
        self.assertLess(hostile.HANG_S, FSYNC_S)
        self.victim_learns()
        with self.going(attacks.Recorder) as going:
            going.await_steps(1)
            time.sleep(1)  # for the daemon to begin to save it
            self.check_answered()


if __name__ == "__main__":
    bed.main()
