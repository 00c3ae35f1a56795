#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The library finds every function of libc that it calls under a lock before it takes the lock (lockwatch.c)."""

import re
import unittest

from support import bed

LOCKWATCH = str(bed.BUILD / "tests/hostile/liblockwatch.so")
COUNTS = re.compile(r"^locks (\d+) look-ups (\d+) under-a-lock (\d+)$", re.M)
# What a program does, and what it did when it was recorded: these need the rarer functions.
COURSES = {
    "lease": ("open pd cq qp:rc move:init query close", None),
    "divergence": ("open pd cq:depth=300 qp:ud move:init", "open pd cq qp:rc move:init"),
    "another_context": ("open pd cq", "open pd cq", {"MLX5_TOTAL_UUARS": "24"}),
    "shared_memory": ("open pd mr cq qp:rc move:init destroy:mr", None, {"WARMVERBS_SHARE_MR": "1"}),
}


@unittest.skipIf(bed.SANITIZED, "a sanitizer's runtime must be the first library")
class Loader(bed.Case):
    def watch(self, words, env, name=None):
        env = {**env, "LD_PRELOAD": f"{bed.PRELOAD} {LOCKWATCH} {bed.STANDIN}"}
        result = self.run_warm(words, env=env, name=name)
        self.assertEqual(result.status, 0, result.errors)
        locks, look_ups, under_a_lock = map(int, COUNTS.search(result.errors).groups())
        self.assertGreater(min(locks, look_ups), 0, "it sees both")
        self.assertEqual(under_a_lock, 0, result.errors)

    def check(self, words, learned=None, env=None):
        """Watches a run that is recorded, and runs with and without a lease."""
        self.watch(learned or words, {}, name="recorded " + self.name[-16:])
        self.learn(learned or words)
        for _ in range(3):
            self.watch(words, env or {})


def case_of(course):
    return lambda self: self.check(*course)


for name, one in COURSES.items():
    setattr(Loader, "test_" + name, case_of(one))


if __name__ == "__main__":
    bed.main()
