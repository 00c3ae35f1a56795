#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Starts that make templates for the next ones, and find them by themselves."""

import os
import shutil
import signal
import subprocess

import template
from template import CLIENT, SPY, until

STARTS = 20


class Named(template.Case):
    def setUp(self):
        super().setUp()
        self.templates = self.folder / "templates"
        self.env = {**os.environ, "WARMVERBS_VERBOSE": "1", "WARMVERBS_TEMPLATES": str(self.templates)}
        self.addCleanup(template.end_supervisors, self.templates)

    def supervisors(self):
        return template.supervisors(self.templates)

    def run_program(self, *argv, **kwargs):
        kwargs.setdefault("env", self.env)
        return subprocess.run([CLIENT, *argv], capture_output=True, text=True, timeout=template.LIMIT_S, check=False,
                              stdin=subprocess.DEVNULL, **kwargs)

    def await_template(self, *argv, **kwargs):
        """Until a start comes from one; returns that."""
        def is_start():
            result = self.run_program(*argv, **kwargs)
            return result if not result.stderr else None
        return until(is_start, "a start from a template")

    def test_second_start(self):
        first = self.run_program("printenv", "HOME")
        self.assertIn("executed", first.stderr)
        self.assertEqual(self.await_template("printenv", "HOME").stdout, first.stdout)
        self.assertEqual(len(self.supervisors()), 1)

    def test_run_template(self):
        """warmverbs run --template, with a library that does no harm as the one that is preloaded."""
        with open("/proc/self/maps", encoding="utf-8") as maps:
            library = next(line.split()[-1] for line in maps if line.rstrip().endswith("/libc.so.6"))
        env = {**self.env, "WARMVERBS_LIBRARY": library}

        def run():
            return subprocess.run([template.CLI, "run", "--template", "--", "printenv", "LD_PRELOAD"], env=env,
                                  capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        first = run()
        self.assertIn("executed", first.stderr)
        started = until(lambda: [result for result in [run()] if not result.stderr], "a start from a template")[0]
        self.assertEqual((started.returncode, started.stdout), (0, first.stdout))

    def test_nothing_is_left(self):
        self.run_program("true")
        self.await_template("true")
        template.end_supervisors(self.templates)
        self.assertEqual(list(self.templates.iterdir()), [])

    def test_many_first_starts(self):
        """They make one template, and none waits for it."""
        clients = [subprocess.Popen([CLIENT, "true"], env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                   for _ in range(STARTS)]
        self.assertEqual([client.wait(template.LIMIT_S) for client in clients], [0] * STARTS)
        self.await_template("true")
        self.assertEqual(len(self.supervisors()), 1)

    def test_no_child(self):
        """The supervisor is not a child of the program, which waits for all of its own."""
        script = "wait; read children </proc/$$/task/$$/children; echo \"$children\""
        self.assertEqual(self.run_program("/bin/sh", "-c", script).stdout, "\n")
        until(self.supervisors, "the supervisor")

    def test_after_kill(self):
        """A supervisor that was killed leaves a socket, and nobody in the way of another."""
        self.run_program("true")
        self.await_template("true")
        os.kill(self.supervisors()[0], signal.SIGKILL)
        until(lambda: not self.supervisors(), "its end")
        self.assertIn("executed", self.run_program("true").stderr)
        self.await_template("true")

    def test_no_template_possible(self):
        """A program that is linked statically is executed; the reason is said again, without another try."""
        result = self.run_program(CLIENT, "--version")
        until(lambda: "statically linked" in self.run_program(CLIENT, "--version").stderr, "the reason")
        self.assertEqual(result.returncode, 0)
        until(lambda: not self.supervisors(), "the end of the supervisor")

    def test_script(self):
        """What would be executed is its interpreter."""
        script = self.folder / "script"
        script.write_text("#!/bin/sh\necho \"$0 $1\"\n", encoding="ascii")
        script.chmod(0o755)
        result = self.run_program(str(script), "a")
        self.assertEqual(result.stdout, f"{script} a\n")
        until(lambda: "a script" in self.run_program(str(script), "a").stderr, "the reason")

    def test_other_program(self):
        """A template is not taken for another program."""
        made = self.template("/bin/sleep").await_ready()
        result = template.run_client(made.socket, ["echo", "1"], env=self.env)
        self.assertEqual((result.returncode, result.stdout), (0, "1\n"))
        self.assertIn("of another program", result.stderr)

    def test_other_loader_variables(self):
        """They make another template."""
        self.run_program("true")
        self.await_template("true")
        env = {**self.env, "LD_BIND_NOW": "1"}
        self.run_program("true", env=env)
        self.await_template("true", env=env)
        self.assertEqual(len(self.supervisors()), 2)

    def test_built_anew(self):
        program = str(self.folder / "program")
        shutil.copy(SPY, program)
        self.run_program(program, "3")
        self.assertEqual(self.await_template(program, "3").returncode, 3)
        shutil.copy("/bin/false", program + ".new")
        os.rename(program + ".new", program)
        self.assertEqual(self.run_program(program, "3").returncode, 1)

    def test_folder_of_all(self):
        """A folder that others may write to is not used."""
        self.templates.mkdir()
        self.templates.chmod(0o777)
        result = self.run_program("true")
        self.assertEqual(result.returncode, 0)
        self.assertIn("not permitted", result.stderr)
        self.assertEqual(self.supervisors(), [])

    def test_no_folder(self):
        result = self.run_program("true", env={**self.env, "WARMVERBS_TEMPLATES": str(self.folder / "a" / "b")})
        self.assertEqual(result.returncode, 0)
        self.assertIn("No such file", result.stderr)

    def test_usage(self):
        self.assertEqual(self.run_program("--help").returncode, 0)
        self.assertEqual(self.run_program().returncode, 2)
        self.assertEqual(self.run_program("--nonsense", "true").returncode, 2)
        self.assertEqual(self.run_program("/nonexistent").returncode, 127)
        self.assertEqual(self.run_program("/etc/hostname").returncode, 126)


if __name__ == "__main__":
    template.main()
