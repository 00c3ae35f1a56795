#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs whose constructors do what a start could not have as exec would make it."""

import os
import subprocess

import template

PROGRAM = str(template.BUILD / "tests/templates/constructor")


class Constructors(template.Case):
    def made(self, what):
        return self.template(PROGRAM, env={**os.environ, "CONSTRUCTOR": what})

    def test_no_templates(self):
        for what, why in (("input", "has read its standard input"),
                          ("output", "has closed or replaced standard"),
                          ("session", "has left its session"),
                          ("group", "has left its session or process group"),
                          ("end", "before its stop point: last line")):
            with self.subTest(what):
                self.assertIn(why, self.made(what).errors())

    def test_fork_handlers(self):
        """Libraries renew random state in them."""
        env = {**os.environ, "CONSTRUCTOR": "forks"}
        _, started = self.run_both(self.made("forks"), [PROGRAM], env=env, stdin=subprocess.DEVNULL)
        self.assertEqual((started.stdout, started.stderr), ("children 1\n", ""))


if __name__ == "__main__":
    template.main()
