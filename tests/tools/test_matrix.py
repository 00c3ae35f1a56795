#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tools/matrix: what it counts and writes, and what it does without a root folder, without making one."""

import concurrent.futures
import contextlib
import io
import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest
from unittest import mock

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools" / "lib"), str(ROOT / "tests")]

from matrix import main, releases, root, suites, table  # noqa: E402  (the path comes first)
from support import cases  # noqa: E402

PAGE = f"""# Compatibility

{table.HEAD}
{table.RULE}
| Debian 12 | 44.0 | 6.1.0 | leased | leased |

Text.
"""


def row(title, rxe=suites.Results(passed=2), mlx5=suites.Results(passed=3)):
    return table.Row(title, "56.1", "6.12.107+deb13-amd64", rxe, mlx5)


def run(*arguments):
    """Exit status and output of tools/matrix, with an empty cache."""
    out = io.StringIO()
    with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, XDG_CACHE_HOME=folder):
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            return main.main(arguments), out.getvalue()


class Releases(unittest.TestCase):
    def of(self, os_release, debian_version):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("os-release", "debian_version")]
            for path, text in zip(paths, (os_release, debian_version)):
                path.write_text(text)
            return releases.of_this_machine(*paths)

    def test_stable(self):
        self.assertEqual(self.of("ID=debian\nVERSION_CODENAME=trixie\n", "13.1\n"), "trixie")

    def test_sid_has_the_name_of_the_next_release(self):
        self.assertEqual(self.of("VERSION_CODENAME=forky\n", "forky/sid\n"), "sid")

    def test_another_distribution(self):
        self.assertIsNone(self.of('VERSION_CODENAME="noble"\n', "trixie\n"))


class Counts(unittest.TestCase):
    def test_meson(self):
        words = ("OK", "SKIP", "FAIL", "TIMEOUT", "EXPECTEDFAIL", "ERROR")
        results = suites.read_meson_log("\n".join(json.dumps({"result": word}) for word in words))
        self.assertEqual(str(results), "2 passed, 3 failed, 1 skipped")

    def test_lab(self):
        self.assertEqual(str(suites.read_lab(0, "ok   a\n2 passed, 0 failed, 1 skipped\n")),
                         "2 passed, 0 failed, 1 skipped")

    def test_a_lab_that_fails_after_its_tests_is_not_passed(self):
        self.assertEqual(suites.read_lab(125, "2 passed, 0 failed, 0 skipped\n").failed, 1)

    def test_a_lab_that_never_counted_has_failed(self):
        results = suites.read_lab(125, "lab: apt-get failed")
        self.assertEqual((results.failed, results.text), (1, "lab: apt-get failed"))


class Table(unittest.TestCase):
    def updated(self, *rows):
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder, "page.md")
            page.write_text(PAGE)
            table.update(rows, page)
            return page.read_text().splitlines()

    def test_rows_are_replaced_and_added(self):
        lines = self.updated(row("Debian 13"), row("Debian 12"))
        self.assertEqual(lines[4:], ["| Debian 12 | 56.1 | 6.12.107 | leased | leased |",
                                     "| Debian 13 | 56.1 | 6.12.107 | leased | leased |", "", "Text."])

    def test_failures_are_told(self):
        self.assertIn("| 1 of 3 tests fail | leased |", str(row("a", suites.Results(passed=2, failed=1))))
        self.assertIn("| not tested | leased |", str(row("a", suites.Results(skipped=1))))


class Programs(unittest.TestCase):
    outcomes = [(100, "apt-get failed")] * 3

    def fetch(self):
        with mock.patch.object(root, "outcome", side_effect=self.outcomes), mock.patch.object(root.time, "sleep"):
            root.Root(releases.RELEASES["sid"], "http://localhost:1/debian").fetch("tools/install-deps")

    def test_without_a_mirror_a_release_cannot_be_had(self):
        with self.assertRaisesRegex(root.Unavailable, "cannot read http://localhost:1/debian/dists/sid/InRelease"):
            self.fetch()

    def test_with_a_mirror_it_fails(self):
        with mock.patch.object(root.Root, "_check_mirror"), self.assertRaisesRegex(root.Failed, "apt-get failed"):
            self.fetch()

    def test_mirror_that_fails_for_a_moment(self):
        self.outcomes = [(100, "apt-get failed"), (0, "")]
        self.fetch()

    def test_all_are_stopped(self):
        ends = concurrent.futures.ThreadPoolExecutor().submit(root.outcome, ["sh", "-c", "sleep 600 & wait"])
        while not root.children:
            time.sleep(0.01)
        root.stop_all()
        self.assertEqual(ends.result(timeout=60)[0], -signal.SIGKILL)
        self.assertEqual(root.children, set())


class Command(unittest.TestCase):
    def test_a_mirror_that_does_not_answer(self):
        with mock.patch.object(root, "may_mount"):
            status, said = run("--mirror", "http://localhost:1/debian", "trixie")
        self.assertEqual((status, said.splitlines()[-1]), (main.EXIT_SKIPPED, "0 passed, 0 failed, 1 skipped"))
        self.assertIn("trixie: skipped, cannot read http://localhost:1/debian/dists/trixie/InRelease", said)

    def test_what_cannot_be_prepared_is_skipped_too(self):
        with mock.patch.object(root, "may_mount", side_effect=root.Unavailable("may not mount")):
            status, said = run("--prepare", "trixie", "sid")
        self.assertEqual((status, said.splitlines()), (main.EXIT_SKIPPED, [
            "trixie: skipped, may not mount", "sid: skipped, may not mount", "0 passed, 0 failed, 2 skipped"]))

    def test_a_machine_without_mmdebstrap(self):
        with mock.patch.object(root.process, "find", return_value=None):
            status, said = run("sid")
        self.assertEqual(status, main.EXIT_SKIPPED)
        self.assertIn("sid: skipped, not installed: mmdebstrap, unshare; run tools/install-deps", said)

    def test_wrong_usage(self):
        for words in (["woody"], ["--short", "--write"], ["--prepare", "--write"], ["--nothing"]):
            with self.assertRaises(SystemExit) as end:
                run(*words)
            self.assertEqual(end.exception.code, 2, words)


if __name__ == "__main__":
    cases.main()
