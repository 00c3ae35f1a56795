#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The main of files of cases, and their attempts: what such a file says at its end, and its exit status."""

import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from support import cases  # noqa: E402  (the path comes first)

FILE = """
import os, unittest
from support import cases

class Cases(unittest.TestCase):
    def attempt(self, in_vain, most=5, free=0):
        for i, _ in enumerate(cases.attempts(most, free)):
            if i == in_vain:
                return
        self.fail("all in vain")

{body}

cases.PRESSURE = os.environ["PRESSURE"]
os.getloadavg = lambda: (float(os.environ["LOAD"]), 0, 0)
cases.main({why_not!r}, argv=["file"])
"""
# What runs the cases of the lab, and of containers.
LAB_FILE = """
import os, sys, types
sys.path.insert(0, {lab!r})
from suite import report
from support import cases

def attempt(_lab):
    for i, _ in enumerate(cases.attempts()):
        if i == {in_vain}:
            return

cases.PRESSURE = "/nonexistent"
os.getloadavg = lambda: ({load}, 0, 0)
lab = types.SimpleNamespace(end=lambda: None, check_nothing_left=lambda: None, remove=lambda: None)
sys.exit(report.run_all([report.Case("topic", str(i), attempt) for i in range(10)], lambda _case: lab))
"""
AGAIN_FILE = """
import sys, types
sys.path.insert(0, {lab!r})
from suite import report

labs = []

def attempt(lab):
    if len(labs) <= {in_vain}:
        raise report.Again("a rejection")

def make_lab(_case):
    labs.append(types.SimpleNamespace(end=lambda: None, check_nothing_left=lambda: None, remove=lambda: None,
                                      transcript=lambda: []))
    return labs[-1]

sys.exit(report.run_all([report.Case("topic", "case", attempt)], make_lab))
"""
PASSES, FAILS = "    def test_passes(self): pass", "    def test_fails(self): self.fail()"
SKIPPED = '    def test_skipped(self): self.skipTest("no moon")'
PARTS = """
    def test_parts(self):
        with self.subTest("one"): self.skipTest("no moon")
        with self.subTest("two"): pass
"""
IN_VAIN = """
    def test_in_vain(self):
        {}
        print("begun:", sum(1 for _ in cases.attempts({})))
"""
RARELY = "    def test_rarely(self):\n        for _ in range(10): self.attempt({})"
ONCE = "    def test_once(self): self.attempt(1)"


class Main(unittest.TestCase):
    def run_file(self, *body, why_not=None, load=0, pressure="/nonexistent"):
        """The exit status and the last line of what it prints."""
        env = {**os.environ, "PYTHONPATH": str(TESTS), "LOAD": str(load), "PRESSURE": str(pressure)}
        done = subprocess.run([sys.executable, "-B", "-c", FILE.format(body="\n".join(body), why_not=why_not)],
                              env=env, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.rpartition("\n")[0].rpartition("\n")[2]

    def test_statuses(self):
        skipped = "skipped: 1: no moon"
        for body, expected in (([PASSES], (0, "")), ([PASSES, SKIPPED], (0, skipped)), ([PARTS], (0, skipped)),
                               ([SKIPPED], (77, skipped)), ([FAILS, SKIPPED], (1, skipped)), ([], (1, ""))):
            with self.subTest(body=body):
                self.assertEqual(self.run_file(*body), expected)

    def test_cannot_run(self):
        self.assertEqual(self.run_file(FAILS, why_not="no sun"), (77, "skipped: all: no sun"))

    def test_attempts(self):
        """All but a tenth, or one, do what they are made for."""
        self.assertEqual(self.run_file(RARELY.format(0), ONCE), (0, "attempts: 12, in vain: 1"))

    def test_attempts_in_vain(self):
        self.assertEqual(self.run_file(RARELY.format(1)),
                         (1, "FAIL: 10 of 20 attempts were in vain on a quiet machine: 10 in attempt()"))

    def test_attempts_that_may_be_in_vain(self):
        self.assertEqual(self.run_file(RARELY.format("1, free=1")), (0, "attempts: 10, in vain: 0"))

    def test_attempts_on_a_busy_machine(self):
        self.assertEqual(self.run_file(RARELY.format(1), load=1e6),
                         (0, "skipped: 1: 10 of 20 attempts were in vain, and the machine is too busy to tell why"))

    def turns(self, loads, most=5, free=0):
        """How many turns a loop has whose attempts are all in vain, and how many count; @loads: during each turn."""
        attempts, loads = cases.Attempts(), itertools.chain(loads, itertools.repeat(0))
        with (mock.patch.object(cases, "PRESSURE", "/nonexistent"),
              mock.patch.object(os, "getloadavg", lambda: (next(loads), 0, 0))):
            return sum(1 for _ in attempts.loop(most, free, "name")), attempts.n

    def test_patience(self):
        """What was in vain on a busy machine takes none of it, but nothing is tried for ever."""
        busy = 1e6
        for loads, turns in (([], 5), ([busy], 6), ([0, busy, 0, busy], 7), ([busy] * 20, 25), ([busy] * 30, 25),
                             ([0] * 4 + [busy] * 30, 25)):
            with self.subTest(loads=loads):
                self.assertEqual(self.turns(loads), (turns, turns))
        self.assertEqual(self.turns([busy], most=10), (11, 11))
        self.assertEqual(self.turns([busy], free=2), (6, 4))

    def test_pressure(self):
        with tempfile.NamedTemporaryFile("w+", suffix=".pressure") as file:
            file.write("some avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00\n")
            file.flush()
            with mock.patch.object(cases, "PRESSURE", file.name):
                meanwhile = cases.Busyness()
                self.assertFalse(meanwhile.was_busy())
                file.seek(0)
                file.write("some avg10=0.00 avg60=0.00 avg300=0.00 total=9000000\n")
                file.flush()
                self.assertTrue(meanwhile.was_busy())


class Lab(unittest.TestCase):
    def run_file(self, in_vain, load=0, file=LAB_FILE):
        """The exit status and the last two lines of what it prints."""
        file = file.format(lab=str(TESTS / "lab"), in_vain=in_vain, load=load)
        done = subprocess.run([sys.executable, "-B", "-c", file], env={**os.environ, "PYTHONPATH": str(TESTS)},
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines()[-2:]

    def test_attempts(self):
        self.assertEqual(self.run_file(0), (0, ["attempts: 10, in vain: 0", "10 passed, 0 failed, 0 skipped"]))

    def test_attempts_in_vain(self):
        why = "10 of 20 attempts were in vain on a quiet machine: 10 in attempt()"
        self.assertEqual(self.run_file(1), (1, [f"FAIL attempts: {why}", "10 passed, 1 failed, 0 skipped"]))

    def test_attempts_on_a_busy_machine(self):
        why = "10 of 20 attempts were in vain, and the machine is too busy to tell why"
        self.assertEqual(self.run_file(1, load=1e6), (0, [f"skip attempts: {why}", "10 passed, 0 failed, 1 skipped"]))

    def test_once_more(self):
        for in_vain, expected in ((0, "1 passed, 0 failed"), (1, "1 passed, 0 failed"), (2, "0 passed, 1 failed")):
            self.assertEqual(self.run_file(in_vain, file=AGAIN_FILE)[1][-1], f"{expected}, 0 skipped")


if __name__ == "__main__":
    cases.main()
