#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench teardown: what it makes of what programs print, without measuring."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from bench import connecting, teardown  # noqa: E402  (the path comes first)
from support import cases  # noqa: E402

# As bench/teardown.c and bench/connect/burst.c print them.
DESTROYED = """\
began 900
took 2500
destroy_qps 500
destroy_cq 40
dereg_mr 30
dealloc_pd 20
close_device 10
left 2000
lived 2300
"""
LEFT = "began 900\ntook 2500\nleft 2000\nlived 2300\n"


class Gone(unittest.TestCase):
    def test_the_end_is_the_calls_and_the_exit(self):
        self.assertEqual(teardown.gone(connecting.figures(DESTROYED)), 600 + 300)

    def test_without_calls_it_is_the_exit(self):
        self.assertEqual(teardown.gone(connecting.figures(LEFT)), 300)


class Row(unittest.TestCase):
    def test_the_ratio_is_of_medians(self):
        samples = {mode: [connecting.figures(text)] * 3 for mode, text in {"plain": DESTROYED, "warm": LEFT}.items()}
        row = teardown.row_of("end", samples, teardown.gone, "")
        self.assertEqual((row["plain"], row["warm"], row["ratio"]), (0.9, 0.3, 3.0))

    def test_what_no_lease_can_hold_has_no_other_side(self):
        row = teardown.row_of("end", {"plain": [connecting.figures(LEFT)]}, teardown.gone, "")
        self.assertEqual((row["plain"], row["warm"], row["ratio"]), (0.3, None, None))


if __name__ == "__main__":
    cases.main()
