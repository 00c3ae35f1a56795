#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Starts that ask to be traced by their parent, which is the supervisor."""

import os
import select
import signal

import template

PROGRAM = str(template.BUILD / "tests/templates/traced")
ATTACKERS = 60
OTHERS = 12


class Traced(template.Case):
    def setUp(self):
        super().setUp()
        self.made = self.template(PROGRAM).await_ready()

    def ready(self, *argv):
        """A start that has said so."""
        read, write = os.pipe()
        with open(read, "rb") as output:
            started = self.launch(self.made, [PROGRAM, *argv], output=write)
            self.addCleanup(started.close)
            os.close(write)
            self.assertEqual(output.readline(), b"ready\n")
        return started

    def ends(self, *argv):
        with self.launch(self.made, [PROGRAM, *argv]) as started:
            return template.exitcode(started)

    def test_goes_on(self):
        """As if nobody traced it."""
        self.assertEqual(self.ends("once", "5"), 5)
        self.assertEqual(self.ends("exec", "6"), 6)

    def test_signals_reach_it(self):
        for number in signal.SIGTERM, signal.SIGTRAP:
            with self.subTest(number):
                started = self.ready("wait", "0")
                signal.pidfd_send_signal(started.pidfd, number)
                self.assertEqual(template.exitcode(started), -number)

    def test_storm(self):
        """Processes that stop again and again keep nobody from being served, nor from learning how a start ended."""
        storm = self.ready("storm", str(ATTACKERS))
        self.assertEqual([self.ends(str(i)) for i in range(OTHERS)], list(range(OTHERS)))
        self.assertEqual(select.select([storm], [], [], 0)[0], [], "the storm has ended")


if __name__ == "__main__":
    template.main()
