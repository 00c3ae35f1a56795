#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The clock is set while the daemon runs, or between two runs: no lease and no recipe is lost, and no timer hangs."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import machine  # noqa: E402  (the path comes first)
from support import bed  # noqa: E402

YEARS_S = 10 * 365 * 86400
RECIPES = 3


class Clock(machine.Case):
    daemon_options = ("--max-recipes-per-user", str(RECIPES))

    def leases(self):
        return self.daemon.status()["use"]["leases"]

    def check_jump(self, seconds):
        """What is ready stays ready; what is used up is made again."""
        self.learn(machine.WORDS)
        before = self.leases()
        self.machine.set(clock_s=seconds)
        self.assertEqual(self.leases(), before)
        for _ in range(3):
            self.check_served()
        self.assertGreaterEqual(self.leases(), before)

    def check_jump_between_runs(self, seconds):
        """The first run after the restart may find that nobody used the recipe for years."""
        self.learn(machine.WORDS)
        self.await_saved(len(self.daemon.status()["recipes"]))
        self.daemon.stop()
        self.machine.set(clock_s=seconds)
        self.daemon.start()
        self.assertEqual(len(self.daemon.recipes(self.name)), 1)
        self.assertEqual(self.run_warm(machine.WORDS).shape(), self.run_plain(machine.WORDS).shape())
        self.check_served()

    def test_set_back(self):
        self.check_jump(-YEARS_S)

    def test_set_ahead(self):
        self.check_jump(YEARS_S)

    def test_set_back_between_runs(self):
        self.check_jump_between_runs(-YEARS_S)

    def test_set_ahead_between_runs(self):
        self.check_jump_between_runs(YEARS_S)

    def test_the_newest_recipes_are_kept(self):
        """Though older ones were used in the future."""
        for n in range(RECIPES):
            self.learn(machine.WORDS, name=f"old.{n}")
        self.machine.set(clock_s=-YEARS_S)
        for n in range(RECIPES):
            self.learn(machine.WORDS, name=f"new.{n}")
        names = sorted(recipe["key"]["name"] for recipe in self.daemon.status()["recipes"])
        self.assertEqual(names, [f"new.{n}" for n in range(RECIPES)])


if __name__ == "__main__":
    bed.main()
