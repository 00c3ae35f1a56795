#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs whose constructors do what a start could not have as exec would make it."""

import os
import subprocess
import unittest

import template
from support.processes import is_alive
from template import children, until

PROGRAM = str(template.BUILD / "tests/templates/constructor")
CLIENTS = 10


class Constructors(template.Case):
    def made(self, what, **options):
        return self.template(PROGRAM, env={**os.environ, "CONSTRUCTOR": what}, **options)

    def test_no_templates(self):
        for what, why in (("input", "has read its standard input"),
                          ("output", "has closed or replaced standard"),
                          ("session", "has left its session"),
                          ("group", "has left its session or process group"),
                          ("end", "before its stop point: last line")):
            with self.subTest(what):
                self.assertIn(why, self.made(what).errors())

    def test_hangs(self):
        """It is killed, and whoever would have the template made finds why."""
        for what, at in ("hang", "main"), ("hang later", "point"):
            with self.subTest(what):
                made = self.made(what, idle=1, named=None, at=at)
                until(lambda: made.process.poll() is not None or children(made.process.pid), "the program")
                program = children(made.process.pid)
                self.assertIn("not come to its stop point within 1 s", made.errors())
                self.assertEqual(made.process.returncode, 1)
                until(lambda: not any(map(is_alive, program)), "the end of the program")
                self.assertIn("not come to its stop point", (self.folder / "template.note").read_text(encoding="utf-8"))

    def test_memory(self):
        """No more wait than may have so much memory of their own, but one: of 2 MB each."""
        env = {**os.environ, "CONSTRUCTOR": "memory"}
        for memory, least, most in ((1, 1, 1), (7, 2, 3), (100, 3, 64)):
            with self.subTest(memory):
                made = self.made("memory", memory=memory)
                for _ in range(10):
                    made.await_ready(least)
                    started = self.start(made, PROGRAM, env=env, stdout=subprocess.DEVNULL)
                    self.assertEqual(started.wait(template.LIMIT_S), 0)
                    self.assertLessEqual(len(children(made.process.pid)) - 1, most)
                made.stop()
        self.all_started()

    def test_fork_handlers(self):
        """Libraries renew random state in them."""
        env = {**os.environ, "CONSTRUCTOR": "forks"}
        _, started = self.run_both(self.made("forks"), [PROGRAM], env=env, stdin=subprocess.DEVNULL)
        self.assertEqual((started.stdout, started.stderr), ("children 1\n", ""))

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_what_fork_handlers_change(self):
        """A child is compared as it is after them."""
        env = {**os.environ, "CONSTRUCTOR": "other host"}
        plain, started = self.run_both(self.made("other host"), [PROGRAM], env=env, stdin=subprocess.DEVNULL)
        self.assertEqual(started.stdout, plain.stdout)
        self.assertIn("ns/uts differs", started.stderr)

    def test_untold_children(self):
        """Whoever is faster, such a child or the supervisor that knows of none, a client is answered."""
        env = {**os.environ, "CONSTRUCTOR": "untold"}
        made = self.made("untold")
        for _ in range(CLIENTS):
            until(lambda: len(children(made.process.pid)) >= 2, "a child")
            client = self.start(made, PROGRAM, env=dict(env), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.addCleanup(client.kill)
            self.assertEqual(client.wait(template.LIMIT_S), 0)
        self.assertEqual(made.stop(), "")


if __name__ == "__main__":
    template.main()
