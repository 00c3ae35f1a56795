#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that list devices more often than they open one; the daemon's list of devices, short and long."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import unittest

from support import bed, cases

OPEN = "open pd cq qp:rc move:init"
LISTS = 5
MAX_DEVICES = 64  # of the daemon's list
IN_MOVED_TO, IN_CREATE = 0x80, 0x100


class Listing(bed.Case):
    def recipe(self):
        recipe, = self.daemon.recipes(self.name)
        return recipe

    def accepted(self):
        return self.daemon.status()["clients"]["accepted"]

    def counters(self):
        return self.recipe()["counters"]

    def check_nothing_lost(self):
        """Every lease that was made is a hit, or is there."""
        self.daemon.await_ready(self.name)
        recipe = self.recipe()
        self.assertEqual(recipe["pool"]["built"], recipe["counters"]["hits"] + recipe["pool"]["ready"])
        self.assertEqual(recipe["counters"]["diverged"], 0)

    def test_lists_before_it_opens(self):
        """Like UCX: a lease in every run after the first, and none is lost, in the second run either."""
        words = "list:free list:free list:free " + OPEN
        self.learn(words)
        for _ in range(3):
            self.run_leased(words)
            self.check_nothing_lost()
        for _ in range(3):
            self.assertEqual(self.run_warm("list:free").status, 0)
            self.check_nothing_lost()

    @unittest.skipIf(os.geteuid(), "only root may know how many connections there were")
    def test_opens_what_it_lists(self):
        """The lease has arrived when such a program opens the device: it asks once."""
        self.learn(OPEN)
        self.daemon.await_ready(self.name)
        before = self.accepted()
        self.assertEqual(self.run_warm(OPEN).failures, [])
        self.assertEqual(self.accepted() - before, len(["in advance", "our question"]))

    @unittest.skipIf(os.geteuid(), "only root may know how many connections there were")
    def test_put_off(self):
        """A daemon that has just started puts off a program that asks in advance; the program asks again, and gets a
        lease."""
        self.learn(OPEN)
        for _ in cases.attempts():
            self.daemon.stop()
            self.daemon.start()
            self.daemon.await_ready(self.name)
            before = self.accepted()
            result = self.run_warm(OPEN)
            self.assertEqual(self.accepted() - before, len(["in advance", "at the open", "our question"]))
            if result.leased:
                return
        self.fail(f"no lease in {cases.PATIENCE} runs or more: {self.daemon.log()[-2000:]}")

    @unittest.skipIf(os.geteuid(), "only root may know how many connections there were")
    def test_listing_again_asks_for_nothing(self):
        """A program that lists devices several times asks once in advance, in vain, and then when it opens one."""
        before = self.accepted()
        self.assertEqual(self.run_warm("list:free " * LISTS + OPEN).failures, [])
        self.assertEqual(self.accepted() - before, len(["in advance", "at the open", "our question"]))

    def test_listing_alone_counts_for_nothing(self):
        """It is no hit, and the program is not asked to record again."""
        self.learn(OPEN)
        before = self.counters()
        for _ in range(3):
            self.daemon.await_ready(self.name)
            self.assertEqual(self.run_warm("list:free").status, 0)
        bed.until(lambda: self.counters()["hits"] == before["hits"], "the leases to count for nothing")
        self.run_leased(OPEN)
        self.assertEqual(self.counters()["records"], before["records"])


class Devices(bed.Case):
    """A list of many devices, of which the program opens the last. Beside it is the daemon's socket."""

    def setUp(self):
        super().setUp()
        folder = pathlib.Path(tempfile.mkdtemp(prefix="devices."))
        self.addCleanup(shutil.rmtree, folder)
        self.socket = folder / "socket"
        self.socket.symlink_to(self.daemon.socket)
        self.list = folder / "providers"
        self.env = {"WARMVERBS_SOCKET": str(self.socket)}

    def write(self, n):
        others = "".join(f"uverbs{1000 + i} -\n" for i in range(n - 1))
        self.list.write_text(others + (self.folder / "providers").read_text())

    def test_all_are_leased(self):
        self.write(1)
        self.learn(OPEN, env=self.env)
        for n in 1, 17, MAX_DEVICES:
            with self.subTest(n):
                self.write(n)
                self.run_leased(OPEN, env=self.env)

    def test_a_provider_of_another_abi(self):
        """The node's provider is of another release than the program's, as in a container."""
        self.list.write_text(re.sub(r"-rdmav\d+", "-rdmav1", (self.folder / "providers").read_text()))
        self.learn(OPEN, env=self.env)
        self.run_leased(OPEN, env=self.env)

    @unittest.skipIf(bed.SANITIZED, "warmverbs explain preloads the library only, and a sanitizer must come first")
    def test_explain_tells_of_one_too_many(self):
        self.write(MAX_DEVICES + 1)
        report = self.folder / "report"
        command = ["explain", "--json", "--output", report, "--socket", self.socket, "--", bed.WORDS, *OPEN.split()]
        result = subprocess.run([bed.CLI, *command], env=bed.environment(bed.WORDS, False), capture_output=True,
                                text=True, check=False, timeout=bed.LIMIT_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        without, = json.loads(report.read_text())["summary"]["without_lease"]
        self.assertEqual(without["reason"], "not listed")


class Start(unittest.TestCase):
    """A daemon that starts."""

    def test_the_list_is_there_before_the_socket(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="start."))
        self.addCleanup(shutil.rmtree, folder)
        libc = ctypes.CDLL(None, use_errno=True)
        watch = libc.inotify_init1(os.O_NONBLOCK)
        self.addCleanup(os.close, watch)
        self.assertGreater(libc.inotify_add_watch(watch, os.fsencode(folder), IN_CREATE | IN_MOVED_TO), 0)
        bed.Daemon(folder).stop()
        names = names_of_events(os.read(watch, 65536))
        self.assertLess(names.index("providers"), names.index("socket"), names)


def names_of_events(data):
    """inotify(7): wd, mask, cookie, length of the name, name."""
    names = []
    while data:
        length = struct.unpack_from("iIII", data)[3]
        names.append(data[16:16 + length].rstrip(b"\0").decode())
        data = data[16 + length:]
    return names


if __name__ == "__main__":
    bed.main()
