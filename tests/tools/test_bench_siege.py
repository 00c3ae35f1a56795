#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench siege: whom it attacks with, and what its figures mean, without measuring."""

import pathlib
import sys
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from bench import siege  # noqa: E402  (the path comes first)
from support import cases, users  # noqa: E402


class One:
    uids, rest_s, with_pairs = (users.ATTACKER,), 0.02, False


class Many(One):
    uids = tuple(range(2100, 2120))


class Lent(One):
    uids = tuple(users.SUBORDINATES)


class Keepers(One):
    with_pairs = True


def by(processes, kind):
    return type(kind.__name__, (kind,), {"uids": kind.uids * processes, "rest_s": 0.0})


TESTS = types.SimpleNamespace(users=users, attacks=types.SimpleNamespace(
    ALL={"one": One, "many": Many, "lent": Lent}, FLOODS={"flood": One, "keepers": Keepers}, by=by))


def rows(beside, attacked, busy=False, alone=1.0):
    def samples(rate):
        return types.SimpleNamespace(rate=lambda: rate, p99=lambda: 1.0, waits=[1.0])
    both = types.SimpleNamespace(alone=samples(alone), beside=samples(beside), attacked=samples(attacked), busy=busy)
    return siege.rows_of("attack", both)


class Verdict(unittest.TestCase):
    def test_as_many_leases(self):
        self.assertEqual(siege.verdict(rows(1.0, 0.9)), siege.OK)

    def test_fewer(self):
        self.assertEqual(siege.verdict(rows(1.0, 0.89) + rows(1.0, 1.0)), siege.UNFAIR)

    def test_processors_that_others_use(self):
        """They are no matter of the daemon."""
        self.assertEqual(siege.verdict(rows(0.5, 0.45)), siege.OK)
        self.assertEqual(siege.verdict(rows(0.0, 0.0)), siege.OK)

    def test_fewer_on_a_busy_machine(self):
        self.assertEqual(siege.verdict(rows(1.0, 0.5, busy=True)), siege.UNTOLD)
        self.assertEqual(siege.verdict(rows(1.0, 0.9, busy=True)), siege.OK)
        self.assertEqual(siege.verdict(rows(1.0, 0.5, busy=True) + rows(1.0, 0.5)), siege.UNFAIR)

    def test_ratio(self):
        self.assertEqual([each["ratio"] for each in rows(0.8, 0.4)], [0.5, 1.0])


class Sieges(unittest.TestCase):
    def setUp(self):
        self.sieges = {each.name: each for each in siege.sieges(TESTS)}

    def test_nobody_rests(self):
        self.assertFalse([each.name for each in self.sieges.values() for kind in each.kinds if kind.rest_s])

    def test_a_victim_that_is_one_of_many_asks_less_often(self):
        """Users lent to a user are no others."""
        periods = {name: self.sieges[name].period_ms for name in ("one", "lent", "many", "all", "flood_by_3")}
        self.assertEqual(periods, {"one": 20, "lent": 20, "many": 210, "all": 220, "flood_by_3": 20})

    def test_pairs_are_attacked_where_there_are_any(self):
        self.assertIn("--pairs", self.sieges["keepers_by_3"].options)
        self.assertNotIn("--pairs", self.sieges["flood_by_3"].options)


if __name__ == "__main__":
    cases.main()
