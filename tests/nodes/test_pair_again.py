#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs with a pair whose queue pairs outlast their connection, and what they do or suffer meanwhile. They get what
plain ones get.
"""

import test_pair_moves
from support import bed
from test_pair_moves import BACK, CLIENT_MOVE, SERVER_MOVE
from test_pairs import client, one


class Again(test_pair_moves.Case):
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


if __name__ == "__main__":
    bed.main(tsan="spares server ends and leases connected run the same code with ThreadSanitizer, in less time")
