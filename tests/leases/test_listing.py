#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that list devices more often than they open one."""

import os
import unittest

from support import bed

OPEN = "open pd cq qp:rc move:init"
LISTS = 5


class Listing(bed.Case):
    def counters(self):
        recipe, = self.daemon.recipes(self.name)
        return recipe["counters"]

    @unittest.skipIf(os.geteuid(), "only root may know how many connections there were")
    def test_listing_again_asks_for_nothing(self):
        """A program that lists devices several times asks once in advance, in vain, and then when it opens one."""
        def accepted():
            return self.daemon.status()["clients"]["accepted"]
        before = accepted()
        self.assertEqual(self.run_warm("list:free " * LISTS + OPEN).failures, [])
        self.assertEqual(accepted() - before, len(["in advance", "at the open", "our question"]))

    def test_listing_alone_counts_for_nothing(self):
        """It is no hit, and the program is not asked to record again."""
        self.learn(OPEN)
        before = self.counters()
        for _ in range(3):
            self.daemon.await_ready(self.name)
            self.assertEqual(self.run_warm("list:free").status, 0)
        bed.until(lambda: self.counters()["hits"] == before["hits"], "the leases to count for nothing")
        self.run_leased(OPEN)
        self.assertEqual(self.counters()["records"], before["records"])


if __name__ == "__main__":
    bed.main()
