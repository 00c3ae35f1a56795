#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/soak: which actions a seed stands for, and what counts as left behind, without running anything."""

import itertools
import pathlib
import sys
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from soak import base, plan, programs  # noqa: E402  (the path comes first)
from support import cases  # noqa: E402

MANY = 3000


def bed(users=(0, 1, 2)):
    return types.SimpleNamespace(programs=programs.STANDIN_PROGRAMS, storms=programs.STORMS, eaters=programs.EATERS,
                                 users=users)


def actions(seed, n=MANY, **options):
    return list(itertools.islice(plan.sequence(seed, bed(**options)), n))


class Plan(unittest.TestCase):
    def test_a_seed_is_a_sequence(self):
        self.assertEqual(list(map(str, actions(7))), list(map(str, actions(7))))
        self.assertEqual(actions(7)[:100], actions(7, 100))
        self.assertNotEqual(list(map(str, actions(7))), list(map(str, actions(8))))

    def test_numbers_are_counted(self):
        self.assertEqual([action.number for action in actions(7)], list(range(1, MANY + 1)))

    def test_everything_happens(self):
        found = actions(7)
        self.assertEqual({action.kind for action in found}, {*plan.KINDS, "settle"})
        used = {action.options.get("program") or action.options.get("words") for action in found}
        self.assertLessEqual({*programs.STANDIN_PROGRAMS, *programs.STORMS, *programs.EATERS}, used)

    def test_one_user_is_enough(self):
        self.assertEqual({action.options.get("user", 0) for action in actions(7, users=(1000,))}, {0})


class Base(unittest.TestCase):
    def test_one_more_of_anything_is_told(self):
        first = {"descriptors": 20, "files": ["socket"]}
        self.assertEqual(base.differences(first, {"descriptors": 20, "files": ["socket"]}), [])
        self.assertEqual(base.differences(first, {"descriptors": 21, "files": ["socket"]}),
                         ["descriptors: 21, at first 20"])
        self.assertEqual(len(base.differences(first, {"descriptors": 19, "files": ["socket", "new"]})), 2)

    def test_memory_may_grow_a_little(self):
        self.assertEqual(base.growth({"VmRSS": 5000}, {"VmRSS": 5000 + base.MEMORY_KIB}), [])
        self.assertEqual(len(base.growth({"VmRSS": 5000}, {"VmRSS": 5001 + base.MEMORY_KIB})), 1)


if __name__ == "__main__":
    cases.main()
