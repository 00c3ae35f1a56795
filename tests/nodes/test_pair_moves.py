#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Pairs whose ends are moved as programs seldom move them. The client gets what a plain one gets.

Each case forces one order: the client connects its end before the server, or after it.
"""

import time

from support import bed, cases
import test_pairs
from test_pairs import MOVE, NOTICE_S, ONE, RUNS, client, one

FEW = 8  # connections of a server before the one that differs
CLIENT_MOVE = MOVE.format(psn=7, timeout=18, more="")
SERVER_MOVE = MOVE.format(psn=9, timeout=18, more="")
BACK = "move:reset move:init,access=6"  # to where the program was before the move
TO_A_STRANGER = "move:rtr,dest=4711,gid=3"


def moved(words, move):
    """A client, or a server, with other words in the place of its move."""
    return words.replace(CLIENT_MOVE, move).replace(SERVER_MOVE, move)


class Case(test_pairs.Case):
    def client_first(self, started):
        self.connect_before_server(started)

    def server_first(self, started):
        """The client goes on once the server has connected its end, and all has been said of it."""
        started.go_on()
        self.server.go_on()
        for program in (started, self.server):
            program.reach("meet")
        time.sleep(NOTICE_S)
        self.server.go_on(started.remarks("address")[-1])
        self.server.reach("idle")
        time.sleep(NOTICE_S)
        started.go_on(self.server.remarks("address")[-1])
        started.reach("connected")

    def check_client(self, words, meet):
        """A client that connects otherwise than those before."""
        self.start_server()
        plain = self.claim(words, warm=False)
        meet(plain)
        plain = plain.finish()
        started = self.claim_pair(words)
        meet(started)
        self.check(started, plain)
        self.await_quiet()

    def check_server(self, other, meet):
        """A server that connects otherwise than before."""
        self.start_server()
        for _ in cases.attempts(RUNS):
            self.server.close()
            self.start_again(ONE * FEW + other * 2)
            for _ in range(FEW):
                self.serve()
            before = self.pairs(self.a)["handed_out"]
            holder = self.claim()
            has_pair = self.pairs(self.a)["handed_out"] > before
            plain = self.claim(warm=False)
            for program in (holder, plain):
                meet(program)
            self.check(holder, plain.finish())
            if has_pair:
                self.await_quiet()
                return
        self.fail(f"no client had a pair: {self.pairs(self.a)}")


class OtherAddress(Case):
    """A program connects from another address of its node than before, so that it is not whom its peer names."""

    def test_client(self):
        self.check_client(client().replace("gid=3", "gid=1"), self.client_first)

    def test_server(self):
        self.check_server(one().replace("gid=3", "gid=1"), self.server_first)


class Stranger(Case):
    """A program moves its queue pair to RTR towards somebody else, takes it back, and connects it to its partner."""

    def test_client_before_server(self):
        self.check_client(moved(client(), f"{TO_A_STRANGER} {BACK} {CLIENT_MOVE}"), self.client_first)

    def test_client_after_server(self):
        self.check_client(moved(client(), f"{TO_A_STRANGER} {BACK} {CLIENT_MOVE}"), self.server_first)

    def test_server_after_client(self):
        self.check_server(moved(one(), f"{TO_A_STRANGER} {BACK} {SERVER_MOVE}"), self.client_first)

    def test_server_before_client(self):
        self.check_server(moved(one(), f"{TO_A_STRANGER} {BACK} {SERVER_MOVE}"), self.server_first)


class Destroyed(Case):
    def make_another(self, meet):
        """A client destroys its end, and makes another queue pair, which gets that number."""
        for node in self.nodes:
            node.ctl("reuse", "on")
            self.addCleanup(node.ctl, "reuse", "off")
        words = client().replace(" at:ready", "").replace(
            "address:", "at:ready destroy:qp qp:rc move:init,access=6 address:")
        self.check_client(words, meet)

    def test_client_before_server(self):
        self.make_another(self.client_first)

    def test_client_after_server(self):
        self.make_another(self.server_first)


if __name__ == "__main__":
    bed.main(tsan="spares server ends and leases connected run the same code with ThreadSanitizer, in less time")
