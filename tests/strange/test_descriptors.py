#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processes with very many descriptors, too few, none of the standard ones, or that close all of them."""

import subprocess
import unittest

from support import bed, cases

END = "destroy:qps destroy:cqs destroy:pd close"
LOOP = f"open pd cq qp:rc move:init,rtr,rts traffic {END}"
FIRST = "open pd cq qp:rc move:init,rtr,rts"
MANY = 110000


def may_have(n):
    return subprocess.run(["prlimit", f"--nofile={n}", "true"], env=bed.CLEAN, capture_output=True,
                          check=False).returncode == 0


class Numbers(bed.Case):
    def compare_plainly(self, words, runs=3, **kwargs):
        """It may have leases or not: its result is that of plain verbs."""
        plain = self.run_plain(words, **kwargs)
        for _ in range(runs):
            warm = self.run_warm(words, **kwargs)
            self.assertEqual(warm.shape(), plain.shape(), warm.errors)
        return plain

    @unittest.skipUnless(may_have(MANY + 100), f"may not have {MANY} descriptors")
    def test_many(self):
        """100,000 open descriptors"""
        plain = self.compare_plainly(f"descriptors:n=100000 {LOOP}", prefix=["prlimit", f"--nofile={MANY}"])
        self.assertEqual(plain.failures, [])

    @unittest.skipIf(bed.SANITIZED, "with a sanitizer, another error says that there are no descriptors")
    def test_lowered(self):
        """`setrlimit(RLIMIT_NOFILE)` below the numbers that are in use"""
        for n in (0, 4):
            with self.subTest(n):
                self.compare_plainly(f"open pd cq limit:n={n} qp:rc move:init,rtr,rts {END}")

    def test_closed_first(self):
        """`closefrom(3)` at the start, as daemons do"""
        self.compare(f"closefrom {LOOP}")

    def test_closed_after_list(self):
        """`closefrom(3)` between `ibv_get_device_list()` and `ibv_open_device()`"""
        self.compare_plainly(f"list closefrom pairs {LOOP} pairs:say")

    def compare_unseen(self, words):
        """Without a trace, whose file would be closed, too."""
        self.learn(f"{FIRST} {END}")
        plain = self.run_plain(words)
        if any("raw-close" in line for line in plain.failures):
            self.skipTest("may not use io_uring")
        runs = []
        for _ in range(3):
            self.daemon.await_ready(self.name)
            runs.append(self.run_warm(words, env={"WARMVERBS_TRACE": ""}))
        return plain, runs

    def test_closed_unseen(self):
        """all descriptors closed by a system call without libc, after `ibv_get_device_list()`"""
        plain, runs = self.compare_unseen(f"list raw-close pairs {LOOP} pairs:say")
        self.assertEqual([run.shape() for run in runs], [plain.shape()] * 3)

    def test_closed_by_ring(self):
        """all descriptors closed by io_uring (IORING_OP_CLOSE), after `ibv_get_device_list()`"""
        plain, runs = self.compare_unseen(f"list raw-close:ring pairs {LOOP} pairs:say")
        self.assertEqual([run.shape() for run in runs], [plain.shape()] * 3)

    def test_open_closed_unseen(self):
        """all descriptors closed in either way while the device is open"""
        plain, runs = self.compare_unseen(f"{FIRST} raw-close pairs query close")
        self.assertIn("query failed", plain.failures[0])
        self.assertEqual([run.shape() for run in runs], [plain.shape()] * 3)

    def test_no_input(self):
        """no standard input"""
        self.compare(f"{LOOP} pairs", prefix=["sh", "-c", 'exec "$@" <&-', "sh"])

    def test_no_output(self):
        """no standard output and error; the program opens files in their place later"""
        path = self.folder / "output"
        words = f"list stdout:{path} {FIRST} pairs {END} pairs:say"
        closed = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"]

        def run(how):
            status = how(words, prefix=closed).status
            return status, [line for line in path.read_text(encoding="ascii").splitlines() if not line.startswith("#")]
        plain = run(self.run_plain)
        self.assertEqual((plain[0], plain[1][-1]), (0, "pairs:say ok 0 closed, 0 bytes"))
        for _ in cases.attempts(free=1):
            self.assertEqual(run(self.run_warm), plain)
            if any(recipe["counters"]["hits"] for recipe in self.daemon.recipes(self.name)):
                break
            self.await_leases()
        bed.until(lambda: self.daemon.recipes(self.name)[0]["counters"]["reports"], "a report of a lease")


if __name__ == "__main__":
    bed.main()
