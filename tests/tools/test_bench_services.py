#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench services: what it makes of what programs print, and of counts, without measuring."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from bench import connecting, services  # noqa: E402  (the path comes first)
from support import cases  # noqa: E402

# As bench/services/calls.c prints them: three rounds.
PRINTED = "".join(
    f"{way}_{end} {us * 1000 + round_}\n"
    for round_ in (-7, 0, 9)
    for way, end, us in (
        ("plain", "connected", 4000),
        ("plain", "noticed", 4200),
        ("asked", "connected", 2000),
        ("asked", "noticed", 2100),
        ("ahead", "connected", 100),
        ("ahead", "noticed", 300),
    )
)


def rate(per_second, us, commands):
    return services.Rate(per_second, {"client": us, "host": us}, {"client": commands, "host": commands / 2})


class Times(unittest.TestCase):
    def test_each_way_is_beside_the_plain_one(self):
        rows = {each["name"]: each for each in services.times(connecting.figures(PRINTED), "here_x")}
        self.assertEqual(len(rows), 4)
        self.assertEqual(rows["asked_connected_here_x"]["ratio"], 2)
        self.assertEqual(rows["ahead_connected_here_x"]["ratio"], 40)
        self.assertEqual(rows["asked_noticed_here_x"]["ratio"], 2)
        self.assertEqual((rows["ahead_noticed_here_x"]["plain"], rows["ahead_noticed_here_x"]["warm"]), (4200, 300))


class Rates(unittest.TestCase):
    def test_more_is_better(self):
        plain, warm = ([rate(each, us, 6) for each in rates] for us, rates in ((500, (90, 100)), (200, (200, 180))))
        row = services.rate_row("asked_1_threads", plain, warm)
        self.assertEqual((row["plain"], row["warm"], row["ratio"]), (95, 190, 2))

    def test_what_a_connection_takes_is_told(self):
        row = services.rate_row("asked_1_threads", [rate(100, 500, 6)], [rate(200, 250, 8)])
        self.assertEqual(
            row["note"],
            "9 commands, 1.00 ms (client 0.50, host 0.50) -> 12 commands, 0.50 ms (client 0.25, host 0.25)",
        )


if __name__ == "__main__":
    cases.main()
