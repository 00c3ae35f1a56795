#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that link with warmverbs and tell it what their children will do."""

import subprocess

import zygotes
from zygotes import bed

LINKED = str(bed.BUILD / "tests/prefork/linked")
# Cases that need only the stand-in.
PLAIN = ["refusals", "ready_from_the_first_child", "another_rehearsal", "several_opens", "release", "child_preforks",
         "grandchild_frees_list", "learned", "two_rehearsals"]
EXAMPLE = str(bed.BUILD / "docs/examples/example_prefork")


class Linked(zygotes.Case):
    def run_linked(self, *command, preloaded=True, **env):
        """Only a preloaded library comes first; a linked one comes behind the stand-in, which is preloaded."""
        result = subprocess.run(command, env=bed.environment(command[0], preloaded, env), text=True,
                                stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=bed.LIMIT_S)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def run_test(self, name, **options):
        self.run_linked(LINKED, name, **options)
        self.assertEqual(bed.ctl("objects")["ufiles"], 0)

    def test_threads(self):
        if bed.SANITIZED:
            self.skipTest("the sanitizer's allocator is not ready for threads that allocate while another forks")
        self.run_test("threads")

    def test_disabled(self):
        self.run_test("refused", WARMVERBS_DISABLE="1")

    def test_commands_pass_by(self):
        """Another library comes before ours, so sets could not be released: wv_prefork() refuses."""
        self.run_test("refused", preloaded=False)

    def test_with_a_daemon(self):
        """Sets are made from leases."""
        self.start_daemon()
        for name in [*PLAIN, *([] if bed.SANITIZED else ["threads"])]:
            with self.subTest(name):
                self.run_linked(LINKED, name, **self.warm(0))

    def test_example(self):
        self.assertEqual(self.run_linked(EXAMPLE).splitlines(), ["ready when it was born"] * 4)


for _name in PLAIN:
    setattr(Linked, f"test_{_name}", lambda self, name=_name: self.run_test(name))

if __name__ == "__main__":
    zygotes.main()
