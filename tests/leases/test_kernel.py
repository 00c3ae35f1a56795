#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What the kernel tells of its driver decides whether the device is leased: sysfs is the stand-in's, but for that."""

import os
import pathlib
import subprocess
import sys
import tempfile

from support import bed

SYSFS = pathlib.Path(os.environ["SYSFS_PATH"])
BTF = pathlib.Path(os.environ["STANDIN_BTF"])
PROGRAM = "open pd cq qp:rc move:init"


class Kernel(bed.Case):
    """A kernel whose types are as write_types() makes them."""

    @classmethod
    def setUpClass(cls):
        cls.sysfs = tempfile.TemporaryDirectory(prefix="sysfs.")
        folder = pathlib.Path(cls.sysfs.name)
        for entry in ("bus", "class", "devices"):
            (folder / entry).symlink_to(SYSFS / entry)
        cls.write_types(folder / "kernel/btf")
        cls.daemon_env = {"SYSFS_PATH": str(folder)}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.sysfs.cleanup()

    @classmethod
    def write_types(cls, folder):
        raise NotImplementedError

    def expect_leased(self):
        device, = self.daemon.status()["devices"]
        self.assertEqual((device["leased"], device["unleased_because"]), (True, None))
        self.learn(PROGRAM)
        self.run_leased(PROGRAM)

    def expect_not_leased(self, because, remedy):
        device, = self.daemon.status()["devices"]
        self.assertFalse(device["leased"])
        self.assertIn(because, device["unleased_because"])
        self.assertIn(remedy, self.daemon.log())
        plain = self.run_plain(PROGRAM)
        self.assertEqual(plain.status, 0, plain.errors)
        for _ in range(3):
            result = self.run_warm(PROGRAM)
            self.assertEqual((result.shape(), result.leased), (plain.shape(), 0), result.errors)
        self.assertEqual(self.daemon.recipes(self.name), [])


class Told(Kernel):
    @classmethod
    def write_types(cls, folder):
        subprocess.run([sys.executable, "-B", BTF, folder], check=True)

    def test_leased(self):
        self.expect_leased()


class SharedPages(Kernel):
    """Doorbell pages are looked up by their address alone, which no setting makes good."""

    daemon_options = ("--trust-kernel", "yes")

    @classmethod
    def write_types(cls, folder):
        subprocess.run([sys.executable, "-B", BTF, folder, "--without-mm"], check=True)

    def test_not_leased(self):
        self.expect_not_leased("has no member mm", "use Linux 5.15 or later")


class Untold(Kernel):
    @classmethod
    def write_types(cls, folder):
        """None: a kernel without BTF."""

    def test_not_leased(self):
        self.expect_not_leased("not known whether mlx5_ib", "--trust-kernel=yes")


class Trusted(Kernel):
    """The same kernel, and an administrator who knows better."""

    daemon_options = ("--trust-kernel", "yes")

    @classmethod
    def write_types(cls, folder):
        """None."""

    def test_leased(self):
        self.expect_leased()


if __name__ == "__main__":
    bed.main()
