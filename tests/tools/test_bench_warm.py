#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/bench warm: what it makes of traces, without measuring."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from bench import every_run  # noqa: E402  (the path comes first)
from support import cases, trace  # noqa: E402

PROGRAM = every_run.Program("program", [["program"]])
QP, QUERY = (4, 0, trace.NO_WRITE_CMD), (4, 1, trace.NO_WRITE_CMD)


def command(number, how, error=0, why=""):
    return trace.Event(trace.COMMAND, how, 1, number, error, 0, 0, 0.0, why)


def told(*runs):
    return every_run.told(trace, PROGRAM, runs)


class Told(unittest.TestCase):
    def test_a_run_is_warm_if_all_came_from_leases(self):
        warm = [command(QP, trace.ADOPTED), command(QUERY, trace.KERNEL)]
        cold = [command(QP, trace.ADOPTED), command(QP, trace.KERNEL, why="other value")]
        result = told(warm, warm, cold, warm)
        self.assertEqual((result["warm"], result["plain"]), (0.75, 1))
        self.assertEqual(result["left"], {"create_qp (other value)": 1})

    def test_what_is_recorded_is_not_warm(self):
        result = told([command(QP, trace.RECORDED)])
        self.assertEqual((result["warm"], result["note"]), (0, "1 create_qp (recorded)"))

    def test_what_fails_creates_nothing(self):
        result = told([command(QP, trace.KERNEL, error=22)])
        self.assertEqual((result["plain"], result["note"]), (None, "creates nothing"))


class Programs(unittest.TestCase):
    def test_all_are_described_and_have_different_names(self):
        names = [program.name for program in every_run.programs(every_run.lab_suite())]
        self.assertEqual(len(names), len(set(names)))
        for name in ("ibv_rc_pingpong", "rping", "ucx_info -d", "fio", "mpirun NPopenmpi", "pyverbs"):
            self.assertIn(name, names)


if __name__ == "__main__":
    cases.main()
