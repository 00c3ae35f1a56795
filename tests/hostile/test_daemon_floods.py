#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Users who flood the daemon without pause and wait for nothing keep no other user's programs from their leases.

What counts is how many leases the victim's programs get, which do not wait either, beside the flood and beside as many
processes that use the processors alone.
"""

import unittest

from support import attacks, bed, hostile, peering

PROGRAMS = 30
REST_S = 0.03
FAIR = 0.9
QUIET = 0.9  # of the programs have a lease without a flood; else this machine cannot tell
TRIES = 3  # a machine that was quiet a moment ago may be busy by now


class Floods(hostile.Case):
    daemon_options = ("--refill-delay", "20", "--log-level", "notice")

    def setUp(self):
        super().setUp()
        self.victim_learns()
        self.as_user(hostile.users.VICTIM, self.client.hurried, hostile.VICTIMS, 5, REST_S)  # more than one is ready
        self.daemon.await_ready(hostile.VICTIMS.decode())

    def measure(self, processes, kind):
        with self.going(attacks.by(processes, kind)) as going:
            going.await_steps(20)
            return self.as_user(hostile.users.VICTIM, self.client.hurried, hostile.VICTIMS, PROGRAMS, REST_S)

    def quiet(self, processes):
        leases = self.measure(processes, attacks.Busy)
        if leases < QUIET * PROGRAMS:
            raise unittest.SkipTest(f"this machine is too busy: {leases} of {PROGRAMS} leases without a flood")
        return leases

    def is_fair(self, kind, processes, quiet):
        beside = self.measure(processes, kind)
        print(f"{kind.__name__} by {processes}: {beside} leases of {PROGRAMS}, {quiet} beside busy ones", flush=True)
        return beside >= FAIR * quiet

    def check(self, processes):
        quiet = self.quiet(processes)
        for kind in attacks.FLOODS.values():
            if kind.with_pairs and not peering.are_on():
                continue
            with self.subTest(kind.__name__):
                self.assertTrue(self.is_fair(kind, processes, quiet) or
                                any(self.is_fair(kind, processes, self.quiet(processes)) for _ in range(TRIES - 1)))

    def test_by_one(self):
        self.check(1)

    def test_by_three(self):
        self.check(3)


class FloodsInContainers(Floods):
    """Here the daemon finds out which container each client is in."""

    daemon_options = (*Floods.daemon_options, "--per-container", "yes")
    test_by_one = None


if __name__ == "__main__":
    bed.main()
