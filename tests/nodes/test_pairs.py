#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Clients on one node whose queue pairs are connected to spares of a server on another before either asks.

Whatever goes wrong with a pair, both programs get what they get plainly.
"""

import os
import signal
import time
import unittest

from support import bed, cases, nodes, trace, users

SHOWING = 5  # connections after which the server has spares
ENOUGH = 60  # connections of a server in a test
RUNS = 20  # of clients, until one has used a pair
LEARNING = 10  # of them, until the daemons have found each other and know of the connections
LEASED = 8  # of which the third has a pair, unless none is made
NOTICE_S = 0.05  # what a daemon says has reached the server's process by then, unless the machine is busy

OPEN = "open pd cq"
MOVE = "move:rtr,rts,met,gid=3,psn={psn},timeout={timeout},retries=7{more}"
CLIENT = (f"{OPEN} qp:rc move:init,access=6 address:gid=3,psn=7,fill=3 {{before}} at:ready meet {MOVE} at:connected "
          "post:write await post:read await {after} arrived at:done destroy:qps")

MOVES = {"INIT2RTR_QP", "RTR2RTS_QP"}


def client(timeout=18, before="", after=""):
    return CLIENT.format(psn=7, timeout=timeout, more="", before=before, after=after)


def one(timeout=18, more=""):
    """A connection that a server makes."""
    move = MOVE.format(psn=9, timeout=timeout, more=more)
    return f" at:idle qp:rc move:init,access=6 address:gid=3,psn=9,fill=5 meet {move}"


ONE = one()
RTR_RTS = MOVE.format(psn=7, timeout=18, more="")
HALFWAY = client().replace(
    RTR_RTS, f"{RTR_RTS.replace('rtr,rts', 'rtr')} at:halfway {RTR_RTS.replace('rtr,rts', 'rts')}")


class Case(nodes.Peers):
    """The server is on b, its clients are on a."""

    @classmethod
    def daemon_options(cls, node):
        return ["--pairs", "yes", *super().daemon_options(node)]

    def setUp(self):
        super().setUp()
        self.server = None

    def pairs(self, node):
        return node.daemon.status()["pairs"]

    def let_meet(self, *clients, up_to="connected"):
        """The server accepts them in this order."""
        for started in clients:
            started.go_on()
            self.server.go_on()
            nodes.meet(started, self.server)
            started.reach(up_to)
            self.server.reach("idle")

    def connect_before_server(self, started):
        """The server learns of the client once that has connected its end, and all has been said of it."""
        def connect():
            started.reach("connected")
            time.sleep(NOTICE_S)
        started.go_on()
        self.server.go_on()
        nodes.meet(started, self.server, connect)
        self.server.reach("idle")

    def claim(self, words=None, warm=True, **kwargs):
        """Starts a client, which has its queue pair in INIT then, and waits to meet the server."""
        started = self.a.start(words or client(), warm, **kwargs)
        started.reach("ready")
        time.sleep(NOTICE_S)
        return started

    def serve(self, words=None, warm=True):
        """A client from start to end; its result."""
        started = self.claim(words, warm)
        self.let_meet(started)
        return started.finish()

    def start_server(self):
        """A server with a lease and with spares: its recipe has one queue pair."""
        self.server = self.b.start_answered(OPEN + ONE + " at:idle arrived", "idle")
        plain = self.serve(warm=False)
        self.server.finish()
        bed.until(lambda: self.b.daemon.recipes(self.b.name), "a recipe of the server")
        self.start_again()
        for _ in range(SHOWING):
            self.serve(warm=False)
        return plain

    def start_again(self, connections=ONE * ENOUGH):
        for _ in cases.attempts():
            self.b.daemon.await_ready(self.b.name)
            self.server = self.b.start(OPEN + connections + " at:idle arrived", True)
            self.server.reach("idle")
            if trace.opens(self.server.events(), trace.ADOPTED):
                return
            self.server.finish()
        self.fail("the server gets no lease")

    def await_pair(self):
        """Runs clients until there is a pair for the next one. A program that was just learned has none yet."""
        for _ in cases.attempts(RUNS, free=LEARNING):
            if self.pairs(self.a)["ready"]:
                return
            self.assertEqual(self.serve().status, 0)
            time.sleep(NOTICE_S)
        self.fail(f"no pair: {self.pairs(self.a)} {self.pairs(self.b)} {self.a.daemon.log()[-3000:]}")

    def claim_pair(self, words=None):
        """A client that has a pair."""
        for _ in cases.attempts(RUNS):
            self.await_pair()
            before = self.pairs(self.a)["handed_out"]
            started = self.claim(words)
            if self.pairs(self.a)["handed_out"] > before:
                return started
            self.let_meet(started)
            started.finish()
        self.fail(f"no client gets a pair: {self.pairs(self.a)}")

    def moves(self, result):
        """The firmware commands between INIT and RTS."""
        return bed.minus(result.marks["connected"], result.marks["ready"])

    def check(self, started, plain):
        result = started.finish()
        self.assertEqual(result.shape(), plain.shape(), result.errors)
        return result

    def serve_without_pairs(self, plain, serve):
        """Clients with leases, more than it takes to learn from them. They get what a plain one gets, and no pair."""
        leased = 0
        for _ in cases.attempts(RUNS, free=LEASED):
            result = serve()
            self.assertEqual(result.shape(), plain.shape(), result.errors)
            leased += result.leased
            if leased == LEASED:
                break
            self.a.await_leases()
        else:
            self.fail(f"{leased} clients had a lease")
        self.assertFalse(self.pairs(self.a)["made"])

    def await_quiet(self):
        """No daemon holds a pair that no program has."""
        bed.until(lambda: not self.pairs(self.a)["handed_out"], f"no pair is left; {self.pairs(self.a)}")


class Pairs(Case):
    def use(self, words, plain):
        """Runs clients until one has used a pair; its result."""
        for _ in cases.attempts(RUNS):
            started = self.claim_pair(words)
            before = self.b.counts(self.server.pid)
            self.let_meet(started)
            given = bed.minus(self.b.counts(self.server.pid), before)
            result = self.check(started, plain)
            self.assertEqual(set(given) & MOVES, MOVES)
            if not self.moves(result):
                return result
        self.fail(f"never used: {self.pairs(self.a)} {self.pairs(self.b)}")

    def test_used(self):
        """No firmware command of the client. The server's program moves its queue pair itself."""
        plain = self.start_server()
        self.assertEqual(set(self.moves(plain)), MOVES)
        before = self.pairs(self.a)["used"]
        self.use(client(), plain)
        bed.until(lambda: self.pairs(self.a)["used"] > before, f"both know; {self.pairs(self.a)}")

    def test_again_and_again(self):
        plain = self.start_server()
        self.use(client(), plain)
        for _ in range(5):
            bed.until(lambda: self.pairs(self.a)["ready"], "a pair for the next client, without a client in between")
            self.use(client(), plain)

    def test_other_attributes(self):
        """The client asks for another timeout than before: its queue pair is moved by commands, as part of the pair.
        The server's program comes later, when all has been said of that."""
        plain = self.start_server()
        result = None
        for _ in cases.attempts(RUNS):
            started = self.claim_pair(client())
            self.let_meet(started)
            self.check(started, plain)
            started = self.claim_pair(client(timeout=15))
            self.connect_before_server(started)
            result = started.finish()
            self.assertEqual(result.lines[-4:], plain.lines[-4:])
            if self.pairs(self.a)["unlike"]["attributes"]:
                return
        self.fail(f"{self.pairs(self.a)} {result.events}")

    def serve_otherwise(self, other):
        """A server that asks for other attributes than before, when a client has a pair with it. Its client gets what a
        plain one gets after it, be it an error."""
        self.start_server()
        for _ in cases.attempts(RUNS):
            self.server.close()
            self.start_again(ONE * RUNS + other * 2)
            for _ in range(RUNS):
                self.serve()
            before = self.pairs(self.a)["handed_out"]
            holder = self.claim()
            has_pair = self.pairs(self.a)["handed_out"] > before
            self.let_meet(holder)
            result = holder.finish()
            self.assertEqual(result.shape(), self.serve(warm=False).shape(), result.errors)
            if has_pair:
                self.await_quiet()
                return
        self.fail(f"no client had a pair: {self.pairs(self.a)}")

    def test_server_with_another_timeout(self):
        self.serve_otherwise(one(timeout=15))

    def test_server_with_another_mtu(self):
        self.serve_otherwise(one(more=",mtu=2"))


class Shared(Case):
    def test_receives(self):
        """Of a client: a message to a queue pair that it has not connected would come into those of its others."""
        self.start_server()
        words = client().replace("qp:rc", "srq qp:rc,srq")
        self.serve_without_pairs(self.serve(words, warm=False), lambda: self.serve(words))


class Crossed(Case):
    def test_another_client_comes_first(self):
        """It gets the server's end of the pair; both clients connect plainly, one after the other."""
        plain = self.start_server()
        holder = self.claim_pair()
        other = self.claim(warm=False)
        self.let_meet(other, holder)
        self.check(other, plain)
        self.check(holder, plain)
        self.await_quiet()

    def test_eight_at_once(self):
        plain = self.start_server()
        self.await_pair()
        clients = [self.claim() for _ in range(8)]
        self.let_meet(*reversed(clients))
        for started in clients:
            self.check(started, plain)
        self.await_quiet()


@unittest.skipIf(users.why_not(), users.why_not())
@unittest.skipUnless(bed.ALL_MAY_READ, "other users may not read the build folder")
class Users(Case):
    @classmethod
    def daemon_options(cls, node):
        return [*super().daemon_options(node), "--group", users.GROUP]

    def test_another_user(self):
        """The same program of another user has a lease, and never a pair."""
        plain = self.start_server()
        self.await_pair()
        for _ in cases.attempts(free=1):
            started = self.claim(user=users.ATTACKER, group=users.gid(), extra_groups=[])
            self.assertFalse(self.pairs(self.a)["handed_out"])
            self.let_meet(started)
            result = self.check(started, plain)
            if result.leased:
                break
            self.a.await_leases()
        self.assertEqual((result.leased, set(self.moves(result))), (1, MOVES))
        self.assertTrue(self.pairs(self.a)["ready"])


class Ends(Case):
    """Of a program, while a client has a pair."""

    def test_client_before_rtr(self):
        plain = self.start_server()
        holder = self.claim_pair()
        holder.close()
        self.await_quiet()
        self.assertEqual(self.serve().shape(), plain.shape())

    def test_client_before_rtr_and_number_is_used_again(self):
        plain = self.start_server()
        for node in self.nodes:
            node.ctl("reuse", "on")
            self.addCleanup(node.ctl, "reuse", "off")
        for _ in range(5):
            self.claim_pair().close()
            started = self.claim(warm=False)
            self.let_meet(started)
            self.check(started, plain)
        self.await_quiet()

    def test_client_after_rts(self):
        self.start_server()
        holder = self.claim_pair()
        self.let_meet(holder)
        holder.close()
        self.await_quiet()

    def test_server(self):
        plain = self.start_server()
        holder = self.claim_pair()
        self.server.close()
        self.start_again()
        self.let_meet(holder)
        self.check(holder, plain)
        self.await_quiet()

    def test_server_and_number_is_used_again(self):
        plain = self.start_server()
        for node in self.nodes:
            node.ctl("reuse", "on")
            self.addCleanup(node.ctl, "reuse", "off")
        holder = self.claim_pair()
        self.server.close()
        self.start_again()
        self.let_meet(holder)
        self.check(holder, plain)


class Halfway(Case):
    """What happens between the moves to RTR and RTS of a client that has a pair."""

    def claim_halfway(self):
        holder = self.claim_pair(HALFWAY)
        self.let_meet(holder, up_to="halfway")
        return holder

    def test_client_ends(self):
        self.start_server()
        plain = self.serve(HALFWAY, warm=False)
        self.claim_halfway().close()
        self.await_quiet()
        self.assertEqual(self.serve(HALFWAY).shape(), plain.shape())

    def test_daemons_end(self):
        self.start_server()
        plain = self.serve(HALFWAY, warm=False)
        for node in self.nodes:
            holder = self.claim_halfway()
            node.daemon.stop(signal.SIGKILL)
            node.daemon.start()
            self.check(holder, plain)


class Daemons(Case):
    """What happens to a daemon while a client has a pair."""

    def check_with(self, happens):
        plain = self.start_server()
        for node in self.nodes:
            for late in (False, True):
                with self.subTest(node=node.number, late=late):
                    holder = self.claim_pair()
                    if not late:
                        happens(node)
                    self.let_meet(holder)
                    if late:
                        happens(node)
                    self.check(holder, plain)

    def test_killed_and_started(self):
        def happens(node):
            node.daemon.stop(signal.SIGKILL)
            node.daemon.start()
        self.check_with(happens)

    def test_stopped(self):
        def happens(node):
            os.kill(node.daemon.pid, signal.SIGSTOP)
            self.addCleanup(os.kill, node.daemon.pid, signal.SIGCONT)
        plain = self.start_server()
        for node in self.nodes:
            holder = self.claim_pair()
            happens(node)
            self.let_meet(holder)
            self.check(holder, plain)
            os.kill(node.daemon.pid, signal.SIGCONT)


if __name__ == "__main__":
    bed.main(tsan="spares server ends and leases connected run the same code with ThreadSanitizer, in less time")
