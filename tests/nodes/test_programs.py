#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real servers on one node and their clients on another: plain, recorded, and with leases on both sides."""

import shutil

from support import bed, nodes, sides
from support.sides import CONNECTIONLESS, MAKING

FEW = ["-n", "10"]

# A program with its arguments, and the firmware commands that it must not give when it has a lease.
PROGRAMS = {
    "rc_pingpong": (["ibv_rc_pingpong", "-c", "-g", "3", *FEW], MAKING),
    "ud_pingpong": (["ibv_ud_pingpong", "-g", "3", *FEW], MAKING | CONNECTIONLESS),
    "read_lat": (["ib_read_lat", "-F", "-x", "3", *FEW], MAKING),
    "dc_send_lat": (["ib_send_lat", "-F", "-x", "3", "-c", "DC", *FEW], MAKING | CONNECTIONLESS),
}


class Programs(nodes.Case):
    def check(self, command, forbidden):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        for warm in ((False, False), (True, True)):
            with self.subTest(server=warm[0], client=warm[1]):
                self.check_counts(sides.run(self.nodes, command, warm), forbidden)

    def check_counts(self, results, forbidden):
        """Each program was counted on its own node only."""
        for result, here, other in zip(results, self.nodes, reversed(self.nodes)):
            given = set(here.counts(result.pid)) & forbidden
            self.assertEqual(bool(given), not result.leased, given)
            self.assertEqual(other.counts(result.pid), {})


def add_cases():
    for name, (command, forbidden) in PROGRAMS.items():
        setattr(Programs, f"test_{name}", lambda self, c=command, f=forbidden: self.check(c, f))


add_cases()
if __name__ == "__main__":
    bed.main()
