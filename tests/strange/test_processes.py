#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processes that are made in unusual ways, and what they do to themselves."""

import os
import shutil
import signal
import subprocess
import time
import unittest

from support import bed, cases

STACKS = str(bed.BUILD / "tests/strange/stacks")
END = "destroy:qps destroy:cqs destroy:pd close"
LOOP = f"open pd cq qp:rc move:init,rtr,rts traffic {END}"
FIRST, SECOND = "open pd cq qp:rc", f"move:init,rtr,rts traffic {END}"
CALM = "open pd cq qp:rc move:init,rtr,rts destroy:qps destroy:cqs destroy:pd close"  # without the buffers of "traffic"


def can(*command):
    """Whether this process may do that here."""
    return bool(shutil.which(command[0])) and subprocess.run(
        [*command, "true"], env=bed.CLEAN, capture_output=True, check=False).returncode == 0


class Children(bed.Case):
    def test_vfork(self):
        """`vfork()`: the child closes descriptors, then calls `_exit()`"""
        self.compare(f"{FIRST} vfork {SECOND}", LOOP)

    def test_vfork_exec(self):
        """`vfork()`: the child closes descriptors, then calls `execve()`"""
        self.compare(f"{FIRST} vfork:exec {SECOND}", LOOP)

    def test_spawn(self):
        """`posix_spawn()` with file actions that close and replace the device"""
        self.compare(f"{FIRST} spawn {SECOND}", LOOP)

    def test_daemon_first(self):
        """a double fork and `setsid()` before the device is opened"""
        self.compare(f"daemon {LOOP}")

    def test_daemon_later(self):
        """a double fork and `setsid()` while the device is open"""
        words = f"open pd cq qp:rc move:init,rtr,rts daemon traffic {END}"
        plain = self.run_plain(f"{FIRST} daemon {END}")
        self.assertEqual((plain.status, plain.failures), (0, []), plain.errors)
        self.learn(LOOP)
        warm = self.run_leased(words)
        self.assertEqual((warm.status, warm.failures), (0, []), warm.errors)


@unittest.skipIf(bed.SANITIZED, "a sanitizer needs much more stack")
class Stacks(bed.Case):
    def check(self, kind):
        """With the smallest stack that plain verbs need on the stand-in, in steps of 1 KiB, and 1 KiB for the library:
        it is called in between, and its frames are smaller than that."""
        def words(size):
            return [kind, str(size), *CALM.split()]
        plain, size = next((result, size) for size in range(16 << 10, 64 << 10, 1 << 10)
                           if not (result := self.run_plain(words(size), program=STACKS)).status)
        self.assertEqual(plain.failures, [])
        size += 1 << 10
        self.learn(words(size), program=STACKS)
        warm = self.run_leased(words(size), program=STACKS)
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)

    def test_thread(self):
        """a thread with a small stack"""
        self.check("thread")

    def test_signal_stack(self):
        """a signal handler on a small `sigaltstack()`"""
        self.check("signal")


class Selves(bed.Case):
    def test_timer(self):
        """signals at a high rate (profilers), whose handlers have no SA_RESTART"""
        words = f"at:before list at:listed timer:us=500 {LOOP}"
        plain = self.run_plain(words)
        self.learn(LOOP)
        for _ in cases.attempts():
            warm = self.run_while_daemon_is_slow(words)
            self.assertEqual(warm.shape(), plain.shape(), warm.errors)
            if any(e.seconds >= 0.01 for e in bed.trace.opens(warm.events, bed.trace.ADOPTED)):
                return
        raise AssertionError("no lease that was waited for: a signal ends the wait")

    def run_while_daemon_is_slow(self, words):
        """The daemon answers only after many signals, but in time."""
        self.daemon.await_ready(self.name)
        program = self.start(words, True)
        program.reach("before")
        os.kill(self.daemon.pid, signal.SIGSTOP)
        program.go_on()
        program.reach("listed")
        program.go_on()
        time.sleep(0.02)
        os.kill(self.daemon.pid, signal.SIGCONT)
        return program.finish()

    def test_clearenv(self):
        """`clearenv()` after the first call of libibverbs"""
        self.compare(f"list clearenv {LOOP}")

    def test_clearenv_first(self):
        """`clearenv()` before it"""
        plain = self.run_plain(f"clearenv {LOOP}")
        warm = self.run_warm(f"clearenv {LOOP}")
        self.assertEqual((warm.shape(), warm.events), (plain.shape(), []), warm.errors)

    def test_title(self):
        """`setproctitle()`: the arguments and the environment are overwritten"""
        self.compare(f"title {LOOP}")

    def test_title_later(self):
        """`setproctitle()` while a device is open, and another device is opened"""
        words = f"{FIRST} title move:init {END} {LOOP}"
        plain = self.run_plain(words)
        self.assertEqual((plain.status, plain.failures), (0, []), plain.errors)
        self.learn(words, n=2)
        warm = self.run_leased(words, n=2)
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)

    def test_environment(self):
        """an environment of a megabyte"""
        self.compare(LOOP, env={f"BIG_{i}": "x" * 100000 for i in range(10)})

    def test_long_settings(self):
        """a socket path that is too long"""
        plain = self.run_plain(LOOP)
        warm = self.run_warm(LOOP, env={"WARMVERBS_SOCKET": "/tmp/" + "x" * 5000})
        self.assertEqual((warm.shape(), warm.leased), (plain.shape(), 0), warm.errors)

    @unittest.skipUnless(can("unshare", "-p", "-f"), "may not make a pid namespace")
    def test_pid_1(self):
        """process 1 of a pid namespace, with children"""
        words = f"{FIRST} fork:exit vfork turn:child query turn:end {SECOND}"
        self.compare(words, LOOP, prefix=["unshare", "-p", "-f"])

    @unittest.skipUnless(can("unshare", "-U", "-r"), "may not make a user namespace")
    def test_user_namespace(self):
        """a user namespace"""
        self.compare(LOOP, prefix=["unshare", "-U", "-r"])


if __name__ == "__main__":
    bed.main()
