#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench services measures: a few calls of each kind, whose times say nothing here."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools" / "lib"))

from bench import services  # noqa: E402  (the path comes first)
from products import Products  # noqa: E402
from session import SessionError  # noqa: E402
from support import bed, cases  # noqa: E402

BUILT = Products(bed.BUILD)
FEW = 20


@unittest.skipIf(os.geteuid(), "the nodes have no IP addresses: only root may make a network")
class Bench(unittest.TestCase):
    def setUp(self):
        self.addCleanup(setattr, services, "CALLS", services.CALLS)
        services.CALLS = FEW

    def test_times(self):
        rows = services.measure(BUILT, 2, "")
        self.assertEqual(len(rows), 8)
        for row in rows:
            self.assertTrue(row["plain"] and row["warm"], row)

    def test_rates(self):
        """A plain connection takes the commands that it is made of: create, INIT, RTR, RTS, reset and destroy."""
        with services.nodes.two(BUILT) as both:
            asked, ahead = services.rates_of(both, 2, "")
        self.assertEqual(asked["detail"]["plain"]["commands"]["client"], 6)
        for row in (asked, ahead):
            self.assertTrue(row["plain"] and row["warm"], row)

    def test_failing_program(self):
        """A client that cannot do what it was told ends the benchmark, and nothing is left."""
        with services.nodes.two(BUILT) as both, self.assertRaisesRegex(SessionError, "rate failed"):
            services.rates_of(both, "no", "")


if __name__ == "__main__":
    cases.main()
