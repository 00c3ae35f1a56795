#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs with a pair whose queue pairs outlast their connection, and what they do or suffer meanwhile. They get what
plain ones get.
"""

import os
import signal
import time

import test_pair_moves
from support import bed, cases
from test_pair_moves import BACK, CLIENT_MOVE, SERVER_MOVE, moved
from test_pairs import NOTICE_S, OPEN, RUNS, client, one

ELSEWHERE = CLIENT_MOVE.replace("met", "dest=4711")
STILL_S = 3  # longer than a daemon waits for another one's answer, shorter than a link without a word lasts


class Case(test_pair_moves.Case):
    def check(self, started, plain):
        self.assertEqual((plain.status, plain.failures), (0, []), plain.lines)
        return super().check(started, plain)


class Again(Case):
    """Both programs have connected their ends. One takes its own back to RESET, and connects it to its peer once more;
    the other has its own as it was."""

    BETWEEN = ""  # moves

    def go_on(self, meet):
        """The server connects again after @meet, before it waits for its next client."""
        def meet_and_go_on(started):
            meet(started)
            self.server.go_on()
            self.server.reach("idle")
        return meet_and_go_on

    def client(self, meet):
        self.check_client(client().replace("at:connected", f"at:connected {BACK} {self.BETWEEN} {CLIENT_MOVE}"), meet)

    def check_again(self, meet):
        self.check_server(f"{one()} at:idle {BACK} {self.BETWEEN} {SERVER_MOVE}", self.go_on(meet))

    def test_client_that_was_the_first(self):
        self.client(self.client_first)

    def test_client_that_was_the_second(self):
        self.client(self.server_first)

    def test_server_that_was_the_first(self):
        self.check_again(self.server_first)

    def test_server_that_was_the_second(self):
        self.check_again(self.client_first)


class Elsewhere(Again):
    """The same, and the program has it connected to somebody else meanwhile."""

    BETWEEN = f"{ELSEWHERE} {BACK}"

    def then_daemons_end(self, meet):
        def meet_and_end(started):
            meet(started)
            for node in self.nodes:
                node.daemon.stop(signal.SIGKILL)
                node.daemon.start()
        return meet_and_end

    def test_client_whose_daemon_has_ended(self):
        self.client(self.then_daemons_end(self.client_first))

    def test_server_whose_daemon_has_ended(self):
        self.check_again(self.then_daemons_end(self.server_first))

    def test_client_before_it_meets_its_peer(self):
        self.check_client(moved(client(), f"{self.BETWEEN} {CLIENT_MOVE}"), self.server_first)

    def test_server_before_it_meets_its_peer(self):
        self.check_server(moved(one(), f"{self.BETWEEN} {SERVER_MOVE}"), self.client_first)


class Closed(Case):
    """A program closes the connection to the daemon, of which it does not know, before it connects its end. Its peer
    has connected the other end."""

    def await_quiet(self):
        """A server without a connection cannot say that it has heard of the client's end."""
        self.server.close()
        super().await_quiet()

    def test_client(self):
        self.check_client(client().replace(CLIENT_MOVE, f"closefrom:connections {CLIENT_MOVE}"), self.server_first)

    def test_server(self):
        self.check_server(one().replace(SERVER_MOVE, f"closefrom:connections {SERVER_MOVE}"), self.client_first)

    def test_client_ends_after_that(self):
        """The server hears of the end of the process."""
        self.start_server()
        holder = self.claim_pair(client().replace(" at:ready", " closefrom:connections at:ready"))
        self.assertTrue(self.pairs(self.a)["handed_out"])
        holder.close()
        super().await_quiet()


class Impatient(Case):
    """A server that gives up soon sends before its client has posted a receive, and before that has connected."""

    MOVE = "move:rtr,rts,met,gid=3,psn=9,timeout=14,retries=7,rnr-retries=0 post:send await"
    ONE = f" at:idle qp:rc move:init,access=6 address:gid=3,psn=9,fill=5 meet {MOVE}"
    CLIENT = (f"{OPEN} qp:rc move:init,access=6 address:gid=3,psn=7,fill=3 at:ready meet post:receive {CLIENT_MOVE} "
              "await arrived at:done destroy:qps")

    def serve_one(self, warm):
        started = self.claim(self.CLIENT, warm)
        for program in (started, self.server):
            program.go_on()
        for program in (started, self.server):
            program.reach("meet")
        self.server.go_on(started.remarks("address")[-1])
        time.sleep(NOTICE_S)
        started.go_on(self.server.remarks("address")[-1])
        started.reach("done")
        self.server.reach("idle")
        return started.finish()

    def test_message(self):
        self.server = self.b.start_answered(OPEN + self.ONE + " at:idle arrived", "idle")
        plain = self.serve_one(warm=False)
        self.server.finish()
        bed.until(lambda: self.b.daemon.recipes(self.b.name), "a recipe of the server")
        self.start_again(self.ONE * 2 * RUNS)
        self.assertEqual((plain.status, plain.failures), (0, []), plain.lines)
        self.serve_without_pairs(plain, lambda: self.serve_one(warm=True))
        said = [line for line in self.server._output if line.startswith("await")]
        self.assertEqual(set(said), {"await ok status 0 opcode 0"})


class Still(Case):
    """The server's daemon stands still when a client with a pair ends. Its number is not another one's before the
    server has heard of that."""

    def is_up(self):
        return any(peer["state"] == "up" for peer in self.a.daemon.administrator.answer(op="peers")["peers"])

    def end_and_meet_another(self, plain):
        """False: the machine was so busy that the daemons have lost each other."""
        holder = self.claim_pair()
        self.server.go_on()
        self.server.reach("meet")
        os.kill(self.b.daemon.pid, signal.SIGSTOP)
        try:
            holder.close()
            time.sleep(STILL_S)
            other = self.claim(warm=False)
            other.go_on()
            other.reach("meet")
            other.go_on(self.server.remarks("address")[-1])
            self.server.go_on(other.remarks("address")[-1])
            self.server.reach("idle")
            other.reach("connected")
            is_up = self.is_up()
            result = other.finish()
        finally:
            os.kill(self.b.daemon.pid, signal.SIGCONT)
        if is_up:
            self.assertEqual(result.shape(), plain.shape(), result.errors)
        return is_up

    def test_client_ends(self):
        plain = self.start_server()
        for node in self.nodes:
            node.ctl("reuse", "on")
            self.addCleanup(node.ctl, "reuse", "off")
        for _ in cases.attempts(RUNS):
            if self.end_and_meet_another(plain):
                break
        else:
            self.fail("the daemons lose each other")
        self.await_quiet()


if __name__ == "__main__":
    bed.main(tsan="spares server ends and leases connected run the same code with ThreadSanitizer, in less time")
