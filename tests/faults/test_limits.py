#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The daemon is out of descriptors, files or threads, or is killed as by the OOM killer: programs run plainly, and are
served again as soon as it is over."""

import errno
import os
import pathlib
import resource
import signal
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import machine  # noqa: E402  (the path comes first)
from support import bed  # noqa: E402

AT_ONCE = 8
USER = 61234  # nobody else's, since the limit counts all threads of a user
NO_THREADS = "threads cannot be started: .*: raise TasksMax= or the limit on processes"


class Case(machine.Case):
    def check_all_right(self, meanwhile=lambda: None):
        """Many programs at once, each of which prints and returns what it does plainly."""
        plain = self.run_plain(machine.WORDS)
        running = [self.start(machine.WORDS, True) for _ in range(AT_ONCE)]
        meanwhile()
        for program in running:
            result = program.finish()
            self.assertEqual(result.shape(), plain.shape(), result.errors)

    def await_only_leases(self):
        def only_leases():
            before = self.daemon.status()["use"]["leases"]
            objects = bed.ctl("objects")
            return before == objects["ufiles"] == self.daemon.status()["use"]["leases"]
        bed.until(only_leases, "no objects but of leases")


class Descriptors(Case):
    def limit(self, soft, hard):
        return resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, (soft, hard))

    def test_none_is_left(self):
        self.learn(machine.WORDS)
        soft, hard = resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE)
        self.limit(max(map(int, os.listdir(f"/proc/{self.daemon.pid}/fd"))) + 1, hard)
        self.addCleanup(self.limit, soft, hard)
        for _ in range(3):
            self.check_all_right()
        self.limit(soft, hard)
        self.check_served()
        self.await_only_leases()

    def test_no_file_is_left_in_the_system(self):
        self.learn(machine.WORDS)
        self.machine.set(accept=errno.ENFILE)
        self.check_all_right()
        self.assertTrue(self.machine.get("refused"))
        self.machine.heal()
        self.check_served()
        self.assertIn("out of descriptors", self.daemon.log())
        self.await_only_leases()


class Threads(Case):
    def test_none_at_the_start(self):
        """It says so and ends."""
        self.machine.set(thread=errno.EAGAIN)
        with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(AssertionError, NO_THREADS):
            bed.Daemon(pathlib.Path(folder), env=self.daemon_env)

    def test_none_later(self):
        """The threads that it has do the work."""
        self.learn(machine.WORDS)
        self.machine.set(thread=errno.EAGAIN)
        for _ in range(3):
            self.check_all_right()
            self.check_served()
        self.machine.heal()
        self.check_served()
        self.await_only_leases()

    @unittest.skipUnless(os.geteuid() == 0, "a user of its own for the daemon needs root")
    @unittest.skipUnless(bed.ALL_MAY_READ, "other users may not read this folder")
    def test_limit_of_processes(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            os.chown(folder, USER, USER)
            with self.assertRaisesRegex(AssertionError, NO_THREADS):
                bed.Daemon(folder, kwargs={"user": USER, "group": USER, "extra_groups": [],
                                           "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (3, 3))})


class Killed(Case):
    def test_while_it_serves(self):
        """At several moments, as the OOM killer would."""
        self.learn(machine.WORDS)
        for milliseconds in (0, 5, 20, 60):
            def kill_and_restart(milliseconds=milliseconds):
                time.sleep(milliseconds / 1000)  # chooses the moment; does not wait for anything
                self.daemon.stop(signal.SIGKILL)
                self.daemon.start()
            self.check_all_right(kill_and_restart)
        self.check_served()
        self.await_only_leases()


if __name__ == "__main__":
    bed.main()
