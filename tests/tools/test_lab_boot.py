#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/lab: a machine that is not ready in time is started anew, and only such a one; without a machine."""

import contextlib
import io
import itertools
import pathlib
import socket
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from lab import main, report, session  # noqa: E402  (the path comes first)
from support import cases  # noqa: E402


class Boot(unittest.TestCase):
    def run_with(self, *outcomes):
        """What the run returns if its attempts end so, and how many were made."""
        attempts = iter(outcomes)
        self.waited = []

        def run_once(seconds):
            self.waited.append(seconds)
            outcome = next(attempts)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        with tempfile.TemporaryDirectory() as out, contextlib.redirect_stderr(io.StringIO()) as self.said:
            result = main.run_when_ready(run_once, types.SimpleNamespace(out=pathlib.Path(out)), 1)
        return result, len(outcomes) - len(list(attempts))

    def test_ready_at_once(self):
        self.assertEqual(self.run_with(7, 8), (7, 1))

    def test_started_anew(self):
        self.assertEqual(self.run_with(report.NotReady(100), report.NotReady(100), 7), (7, 3))
        self.assertIn("not ready after 100 s; starting it anew", self.said.getvalue())
        self.assertEqual(self.waited, list(main.BOOT_SECONDS))

    def test_never_ready(self):
        with self.assertRaises(report.NotReady):
            self.run_with(*[report.NotReady(100)] * len(main.BOOT_SECONDS), 7)

    def test_died(self):
        with self.assertRaisesRegex(report.GuestError, "died"):
            self.run_with(report.GuestError("the guest died"), 7)

    def test_ready_while_nobody_looked(self):
        """The lab itself stood still, as when it is stopped: the job has begun."""
        ends = [socket.socketpair() for _ in range(3)]
        for (_, guest), said in zip(ends, (b"ready\nexit 3\n", b"MARK", b"MARK")):
            guest.sendall(said)
        self.assertEqual(session.Session([host for host, _ in ends], b"MARK", 0, 60).follow(), 3)
        for end in itertools.chain(*ends):
            end.close()


if __name__ == "__main__":
    cases.main()
