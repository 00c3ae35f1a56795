#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The disk of the daemon's state is full, read-only or hangs: programs are served, and recipes are saved later."""

import os
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import machine  # noqa: E402  (the path comes first)
from support import bed  # noqa: E402

DISK_KIB, FILES = 64, 32
HAS_DISK = os.geteuid() == 0 and machine.own_mounts()


@unittest.skipUnless(HAS_DISK, "mounting a disk needs root")
class Disk(machine.Case):
    """The state folder is a small disk of its own."""

    def setUp(self):
        super().setUp()
        self.daemon.stop()
        self.mount = self.folder / "state"
        options = f"size={DISK_KIB}k,nr_inodes={FILES},mode=700"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "disk", self.mount], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", self.mount], check=True)
        self.addCleanup(self.daemon.stop)
        self.log_before = len(self.daemon.log())

    def fill(self):
        """Not a byte is left, nor a name."""
        with open(self.mount / "filler", "wb", buffering=0) as filler:
            try:
                while filler.write(bytes(4096)):
                    pass
            except OSError:
                pass
        n = 0
        try:
            while True:
                (self.mount / f"filler.{n}").mkdir()
                n += 1
        except OSError:
            pass

    def make_room(self):
        for path in self.mount.glob("filler*"):
            path.rmdir() if path.is_dir() else path.unlink()

    def remount(self, how):
        subprocess.run(["mount", "-o", f"remount,{how}", self.mount], check=True)

    def check_kept_in_memory(self, error):
        """Programs are recorded and served; one line says what is wrong and what to do."""
        self.learn(machine.WORDS)
        self.check_served()
        self.await_logged(f"recipes cannot be saved in {self.mount}: {error}; they are kept in memory: make room, or"
                          " correct --state-dir", self.log_before)
        self.assertEqual(self.daemon.log()[self.log_before:].count("cannot be saved"), 1)
        self.assertEqual(self.recipe_files(), [])

    def check_after_restart(self):
        self.daemon.stop()
        self.daemon.start()
        self.assertEqual(len(self.daemon.recipes(self.name)), 1)
        self.check_served()

    def test_full_then_room(self):
        """It is tried again, within about a minute, without being told."""
        self.fill()
        self.daemon.start()
        self.check_kept_in_memory("No space left on device")
        self.make_room()
        self.await_saved()
        self.check_after_restart()

    def test_full_while_it_runs(self):
        self.daemon.start()
        self.learn(machine.WORDS, name="before")
        self.await_saved()
        before = self.recipe_files()[0].read_bytes()
        self.fill()
        self.learn(machine.WORDS)
        self.check_served()
        self.await_logged("No space left on device", self.log_before)
        self.assertEqual([path.read_bytes() for path in self.recipe_files()], [before])
        self.make_room()
        self.check_after_restart()

    def test_full_at_its_end(self):
        """The daemon ends as ever, and says what is lost."""
        self.fill()
        self.daemon.start()
        self.check_kept_in_memory("No space left on device")
        self.daemon.stop()
        self.await_logged("recipes not saved", self.log_before)

    def test_read_only(self):
        self.daemon.start()
        self.remount("ro")
        self.check_kept_in_memory("Read-only file system")
        self.remount("rw")
        self.check_after_restart()

    def test_read_only_with_recipes(self):
        """Recipes are read; their counters can't be written."""
        self.daemon.start()
        self.learn(machine.WORDS)
        self.await_saved()
        self.daemon.stop()
        self.remount("ro")
        self.daemon.start()
        self.check_served()
        self.daemon.stop()


class SlowDisk(machine.Case):
    """fsync() does not return for a long time."""

    def tearDown(self):
        self.machine.heal()
        super().tearDown()

    def hold(self):
        self.machine.set(hold=1)
        self.learn(machine.WORDS)
        bed.until(lambda: self.machine.get("held"), "the disk to hang")

    def test_served_meanwhile(self):
        self.hold()
        for n in range(3):
            self.learn(machine.WORDS, name=f"another.{n}")
            self.check_served(name=f"another.{n}")
        self.assertTrue(self.machine.get("held"))
        self.machine.heal()
        self.await_saved(len(self.daemon.status()["recipes"]))

    def test_ends_meanwhile(self):
        """A disk that never answers does not keep the daemon from its end."""
        self.hold()
        before = len(self.daemon.log())
        self.daemon.stop()
        self.await_logged("not saved", before)
        self.machine.heal()
        self.daemon.start()
        self.learn(machine.WORDS, name="after")
        self.check_served(name="after")

    def test_killed_meanwhile(self):
        """A recipe is on the disk as a whole or not at all, and no half of a file stays."""
        self.hold()
        self.daemon.stop(signal.SIGKILL)
        self.machine.set(held=0)
        self.machine.heal()
        self.daemon.start()
        if not self.daemon.recipes(self.name):
            self.learn(machine.WORDS)
        self.check_served()
        self.await_saved(len(self.daemon.status()["recipes"]))
        files = [path.name for path in (self.folder / "state").rglob("*") if path.is_file()]
        self.assertEqual([name for name in files if not name.endswith(".json")], [])


if __name__ == "__main__":
    bed.main()
