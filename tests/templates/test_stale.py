#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A program is not started from its template if exec would load other files now."""

import os
import platform
import shutil
import subprocess
import unittest

import template

PROGRAM = str(template.BUILD / "tests/templates/says_value")
NAME = "libvalue.so"


class Stale(template.Case):
    def test_program(self):
        """A program that is replaced, or written to, is not started from its old template."""
        program = str(self.folder / "program")
        shutil.copy("/bin/true", program)
        made = self.template(program).await_ready()
        env = {**os.environ, "WARMVERBS_VERBOSE": "1"}
        self.assertEqual(template.run_client(made.socket, [program], env=env).returncode, 0)
        shutil.copy("/bin/false", program + ".new")
        os.rename(program + ".new", program)
        self.assertEqual(template.run_client(made.socket, [program], env=env).returncode, 1)
        self.assertEqual(made.errors(), "")


class Libraries(template.Case):
    """The program has loaded the library 1 from the second of two folders."""

    def setUp(self):
        super().setUp()
        self.first, self.second = self.folder / "first", self.folder / "second"
        self.put(1, self.second)
        self.env = {**os.environ, "LD_LIBRARY_PATH": f"{self.first}:{self.second}"}

    @staticmethod
    def put(value, folder):
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(template.BUILD / f"tests/templates/libvalue_{value}.so", folder / NAME)

    def loads(self, change):
        """Library 2, once @change has been made."""
        made = self.template(PROGRAM, env=self.env)
        for expected in "1\n", "2\n":
            plain, started = self.run_both(made, [PROGRAM], env=dict(self.env), stdin=subprocess.DEVNULL)
            self.assertEqual((plain.stdout, started.stdout), (expected, expected))
            self.assertEqual(bool(started.stderr), expected == "2\n", started.stderr)
            if expected == "1\n":
                change()

    def test_folder_is_made(self):
        self.loads(lambda: self.put(2, self.first))

    def test_library_is_made(self):
        self.first.mkdir()
        self.loads(lambda: self.put(2, self.first))

    def test_folder_is_a_link(self):
        """To another one now."""
        (self.folder / "empty").mkdir()
        self.put(2, self.folder / "other")
        self.first.symlink_to("empty")

        def change():
            (self.folder / "new").symlink_to("other")
            os.rename(self.folder / "new", self.first)
        self.loads(change)

    def test_library_is_a_link(self):
        self.put(1, self.folder / "one")
        self.put(2, self.folder / "two")
        self.first.mkdir()
        link = self.folder / "link"
        link.symlink_to("one")
        (self.first / NAME).symlink_to(link / NAME)

        def change():
            (self.folder / "new").symlink_to("two")
            os.rename(self.folder / "new", link)
        self.loads(change)

    @unittest.skipUnless(platform.machine() == "x86_64", "such folders have other names here")
    def test_folder_for_a_processor(self):
        inner = self.second / "glibc-hwcaps/x86-64-v2"
        for exists in False, True:
            with self.subTest(exists):
                shutil.rmtree(self.second / "glibc-hwcaps", ignore_errors=True)
                if exists:
                    inner.mkdir(parents=True)
                self.loads(lambda: self.put(2, inner))


if __name__ == "__main__":
    template.main()
