#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that do what few programs do behave as they do without warmverbs: plainly, recorded and with a lease.

The programs are strange.c and sandbox.c. A program that hangs is killed. Some cases are rows of docs/compatibility.md,
which their docstrings name (tests/strange/check_table.py).
"""

import os
import resource
import signal
import unittest

from support import bed, cases

STRANGE = str(bed.BUILD / "tests/hostile/strange")
SANDBOX = str(bed.BUILD / "tests/hostile/sandbox")
KILLED_AFTER_S = "90"
SMALL = "open pd cq qp:rc move:init"
LIMITS = range(4, 31)
MANY = 34000  # more than the library tracks


class Strange(bed.Case):
    def start(self, words, warm, **kwargs):
        kwargs["prefix"] = ["timeout", "-s", "KILL", KILLED_AFTER_S, *kwargs.get("prefix", [])]
        return super().start(words, warm, **kwargs)

    def check(self, words, runs=3, **kwargs):
        """The first run is recorded, and a later one gets a lease, if there is one."""
        meanwhile = cases.Busyness()
        plain = self.run_plain(words, **kwargs)
        if plain.status == -signal.SIGKILL and meanwhile.was_busy():
            self.skipTest(f"plainly it takes more than {KILLED_AFTER_S} s: the machine is too busy to tell")
        self.assertEqual(plain.status, 0, plain.errors)
        for i in range(runs):
            with self.subTest(run=i):
                warm = self.run_warm(words, **kwargs)
                self.assertEqual(warm.shape(), plain.shape(), warm.errors)
        return plain

    def check_leased(self, words, **kwargs):
        """The same, and both a recording and a lease are certain."""
        plain = self.run_plain(words, **kwargs)
        self.assertEqual(plain.status, 0, plain.errors)
        for run in (self.learn, self.run_leased):
            warm = run(words, **kwargs)
            self.assertEqual(warm.shape(), plain.shape(), warm.errors)


class Forks(Strange):
    @unittest.skipIf(bed.SANITIZED, "a sanitizer's allocator holds a lock that its child never gets")
    def test_fork_in_a_signal_handler(self):
        """`fork()` in a signal handler"""
        self.check(["fork-at-signals"], program=STRANGE)

    def test_children_without_fork_handlers(self):
        """children of `_Fork()` and of the system call `clone()`"""
        self.check_leased(["children-without-handlers"], program=STRANGE)


class Cancellation(Strange):
    """A thread that was cancelled in a verb keeps no process from forking."""

    def test_at_the_first_chance(self):
        self.check(["cancel-in-open"], program=STRANGE)

    @unittest.skipIf(bed.SANITIZED, "a sanitizer takes the stack of a cancelled thread for one in use")
    def test_anywhere(self):
        """a thread that is cancelled in a verb"""
        self.check(["cancel-anywhere"], runs=2, program=STRANGE)

    @unittest.skipIf(bed.TSAN, "a thread that is cancelled inside ThreadSanitizer keeps its locks")
    def test_asynchronous(self):
        """a thread that is cancelled in a verb, asynchronously"""
        self.check_leased(["cancel-asynchronously"], program=STRANGE)


class Descriptors(Strange):
    @unittest.skipIf(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < MANY, f"may not have {MANY} descriptors")
    def test_more_than_are_tracked(self):
        self.check(["many-descriptors"], program=STRANGE)

    def test_hardly_any(self):
        """a small RLIMIT_NOFILE"""
        # Queues are in shared memory, for which the stand-in, unlike a kernel, needs a descriptor.
        without_memory = 2
        options = {"env": {"WARMVERBS_TRACE": ""}, "name": "hardly_any"}
        self.learn(SMALL, name="hardly_any")
        far = set()
        for limit in LIMITS:
            options["prefix"] = ["prlimit", f"--nofile={limit}:{limit}"]
            plain = self.run_plain(SMALL, prefix=options["prefix"])
            compared = without_memory if plain.failures else None
            for run in range(2):
                with self.subTest(limit=limit, run=run):
                    warm = self.run_warm(SMALL, **options)
                    self.assertEqual((warm.status, warm.lines[:compared]), (plain.status, plain.lines[:compared]),
                                     warm.errors)
            far.add(len(plain.failures))
        self.assertGreater(len(far), 1, "no limit was too small")
        self.assertIn(0, far)


@unittest.skipIf(bed.SANITIZED, "a sanitizer's runtime makes system calls of its own")
class Sandboxes(Strange):
    """What a program tells the daemon kills it in no sandbox, and yet arrives."""

    def test_no_sendmsg(self):
        self.check_leased(["prctl", "no-sendmsg"], program=SANDBOX)

    def test_output_only(self):
        """a sandbox that kills at almost any system call, announced by `prctl()`, after the device was opened"""
        self.check_leased(["prctl", "output-only"], program=SANDBOX)

    @unittest.skipIf(os.geteuid(), "needs root, to enter a sandbox unannounced")
    def test_no_sendmsg_unannounced(self):
        self.check_leased(["seccomp", "no-sendmsg"], program=SANDBOX)

    @unittest.skipIf(os.geteuid(), "needs root, to enter a sandbox unannounced")
    def test_output_only_unannounced(self):
        """a sandbox that kills at almost any system call, not announced, after the device was opened"""
        self.check_leased(["seccomp", "output-only"], program=SANDBOX)


if __name__ == "__main__":
    bed.main()
