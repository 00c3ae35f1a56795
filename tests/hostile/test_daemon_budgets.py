#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What one user can make the daemon hold: answers that nobody reads, leases, recipes. Each is counted and limited."""

import contextlib
import os
import socket

from support import attacks, bed, client, hostile, recordings, users

MIB = 1 << 20
DEAR_MIB = 8  # recordings.DEAR
USER_MIB, USER_LEASES = 64, 16
UNREAD = 400
ROOM = 10
LEASES = 10


def has_answer(sock):
    """Whether an answer waits; None if it may still come. False: the daemon has disconnected."""
    try:
        return bool(sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return None
    except OSError:
        return False


def users_of(asker):
    """Those that its status shows; None while the daemon refuses it."""
    with contextlib.suppress(OSError):
        return asker.answer(op="status")["users"]


def leave_unread(path, question):
    """Asks UNREAD times, as this user; how many answers wait, and how many connections the daemon counts then."""
    asker = client.Client(path)
    socks = []
    for _ in range(UNREAD):
        try:
            socks.append(asker.question(**question))
        except OSError:
            break
    bed.until(lambda: all(has_answer(sock) is not None for sock in socks), "all to be answered or disconnected")
    waiting = [sock for sock in socks if has_answer(sock)]
    for _ in range(min(ROOM, len(waiting) - 1)):  # for the question about them
        waiting.pop().close()
    user, = bed.until(lambda: users_of(asker), "an answer")
    return len(waiting), user["clients"]


def pages_of_lease(path, name):
    """Bytes of memory that the files of a lease take."""
    return sum(os.fstat(fd).st_blocks * 512 for fd in client.Client(path).take(name))


class Unread(hostile.Case):
    nofile = 512
    daemon_options = ("--max-leases", "32")

    def check_counted(self, **question):
        waiting, counted = self.as_user(users.ATTACKER, leave_unread, self.target.socket, question)
        self.assertGreater(waiting, 0)
        self.assertLessEqual(waiting, counted)

    def test_answers_count(self):
        """As long as an answer is not read, the connection counts."""
        self.check_counted(op="status")

    def test_long_answers_count(self):
        """And so does the memory that holds it."""
        self.as_user(users.ATTACKER, self.client.learn, b"long", self.target.long)
        recipe, = self.daemon.recipes("long")
        self.check_counted(op="recipe", id=recipe["id"])

    def check_others(self, kind, steps):
        """Others get leases, although the kernel lets an account have only so many descriptors in flight."""
        self.victim_learns()
        with self.going(kind) as going:
            going.await_steps(steps)
            got, _ = self.victim_leases(LEASES, 0.1)
        self.assertGreater(got, 0)

    def test_others_beside_answers(self):
        self.check_others(attacks.UnreadStatus, 2 * self.nofile)

    def test_others_beside_long_answers(self):
        self.check_others(attacks.UnreadRecipe, 2 * self.nofile)

    def test_others_beside_leases(self):
        self.check_others(attacks.UnreadLeases, self.nofile // 2)


class Leases(hostile.Case):
    daemon_options = ("--max-memory-per-user", str(USER_MIB), "--max-memory", str(4 * USER_MIB),
                      "--max-leases-per-user", str(USER_LEASES))

    def test_memory_that_nothing_uses(self):
        """A recipe's memory without an object in it does not become a lease's pages."""
        provider, head, steps = recordings.split(self.target.dear)
        self.assertEqual(steps[-1][recordings.CLASS_AT], recordings.CREATE)  # the queue in the memory
        bare = recordings.join(provider, head, steps[:-1])
        self.as_user(users.ATTACKER, self.client.learn, b"bare", bare)
        bed.until(self.is_decided, "a lease, or that there is none")
        self.assertLess(self.as_user(users.ATTACKER, pages_of_lease, self.target.socket, b"bare"), DEAR_MIB * MIB)

    def is_decided(self):
        return any(recipe["unfit"] or recipe["pool"]["ready"] for recipe in self.daemon.recipes("bare"))

    def test_many_users(self):
        """The limits of all users together hold, however many there are, and somebody else gets leases."""
        self.victim_learns()
        n_users = len(attacks.ManyUsers.uids)
        with self.going(attacks.by(n_users, attacks.Busy)):
            beside, _ = self.victim_leases(LEASES, hostile.SHARED_RHYTHM_S)
        self.daemon.await_ready(hostile.VICTIMS.decode())
        with self.going(attacks.ManyUsers) as going:
            going.await_steps(10 * n_users)
            got, _ = self.victim_leases(LEASES, hostile.SHARED_RHYTHM_S)
            use = self.daemon.status()["use"]
        self.assertLessEqual(use["memory"], 4 * USER_MIB * MIB)
        self.assertGreaterEqual(got, max(1, beside // 2), f"leases; {beside} beside as many who only use processors")

    def test_subordinate_users(self):
        """Users lent to a user have that user's limits in all."""
        for uid in users.SUBORDINATES:
            for name in (b"one", b"another"):
                self.as_user(uid, self.client.learn, name, self.target.small)

        def pooled():
            recipes = self.daemon.recipes("one") + self.daemon.recipes("another")
            ready = sum(recipe["pool"]["ready"] for recipe in recipes)
            return ready >= sum(recipe["pool"]["target"] for recipe in recipes) and ready
        self.assertLessEqual(bed.until(pooled, "leases"), USER_LEASES)


class Hoard(hostile.Case):
    daemon_options = ("--max-memory-out", str(USER_MIB))

    def test_hoard(self):
        """Leases that were taken count as long as somebody has them."""
        with self.going(attacks.Hoard) as going:
            going.await_steps(2 * USER_MIB // DEAR_MIB)
            self.assertLessEqual(going.steps * DEAR_MIB, USER_MIB)

    def test_hoard_by_proxies(self):
        """Also if the processes that took them have ended; once nobody has them, they count no longer."""
        with self.going(attacks.HoardByProxies) as going:
            going.await_steps(2 * USER_MIB // DEAR_MIB)
            self.assertLessEqual(going.steps * DEAR_MIB, USER_MIB)
            self.assertGreaterEqual(self.daemon.status()["use"]["memory_out"], going.steps * DEAR_MIB * MIB)
        bed.until(lambda: not self.daemon.status()["use"]["memory_out"], "the memory to be free")


if __name__ == "__main__":
    bed.main()
