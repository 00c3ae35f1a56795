#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs with a pair whose queue pairs outlast their connection, and what they do or suffer meanwhile. They get what
plain ones get.
"""

import test_pair_moves
from support import bed
from test_pair_moves import BACK, CLIENT_MOVE, SERVER_MOVE
from test_pairs import client, one


class Case(test_pair_moves.Case):
    def check(self, started, plain):
        self.assertEqual((plain.status, plain.failures), (0, []), plain.lines)
        return super().check(started, plain)


class Again(Case):
    """Both programs have connected their ends. One takes its own back to RESET, and connects it to its peer once more;
    the other has its own as it was."""

    def go_on(self, meet):
        """The server connects again after @meet, before it waits for its next client."""
        def meet_and_go_on(started):
            meet(started)
            self.server.go_on()
            self.server.reach("idle")
        return meet_and_go_on

    def client(self, meet):
        self.check_client(client().replace("at:connected", f"at:connected {BACK} {CLIENT_MOVE}"), meet)

    def check_again(self, meet):
        self.check_server(f"{one()} at:idle {BACK} {SERVER_MOVE}", self.go_on(meet))

    def test_client_that_was_the_first(self):
        self.client(self.client_first)

    def test_client_that_was_the_second(self):
        self.client(self.server_first)

    def test_server_that_was_the_first(self):
        self.check_again(self.server_first)

    def test_server_that_was_the_second(self):
        self.check_again(self.client_first)


class Closed(Case):
    """A program closes the connection to the daemon, of which it does not know, before it connects its end. Its peer has
    connected the other end."""

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
        self.await_quiet()


if __name__ == "__main__":
    bed.main(tsan="spares server ends and leases connected run the same code with ThreadSanitizer, in less time")
