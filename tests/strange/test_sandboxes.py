#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Processes that give up rights before or after they open a device."""

import os
import shutil
import unittest

from support import bed

END = "destroy:qps destroy:cqs destroy:pd close"
LOOP = f"open pd cq qp:rc move:init,rtr,rts traffic {END}"
FIRST, SECOND = "open pd cq qp:rc", f"move:init,rtr,rts traffic {END}"
NOBODY = 65534


class Filters(bed.Case):
    def test_seccomp_before(self):
        """a seccomp filter that refuses sockets, before the device is opened"""
        words = f"seccomp {LOOP}"
        plain = self.run_plain(words)
        self.assertEqual(plain.failures, [])
        self.learn(LOOP)
        for _ in range(3):
            warm = self.run_warm(words)
            self.assertEqual((warm.shape(), warm.leased), (plain.shape(), 0), warm.errors)

    def test_seccomp_after(self):
        """a seccomp filter that refuses sockets, after the device was opened"""
        self.compare(f"{FIRST} seccomp {SECOND}", LOOP)

    def test_seccomp_kills(self):
        """a seccomp filter that kills at a socket, before the device is opened"""
        words = f"seccomp:kill {LOOP}"
        self.assertEqual(self.run_plain(words).failures, [])
        self.assertEqual(self.run_warm(words).status, -31)
        disabled = self.run_warm(words, env={"WARMVERBS_LEASE": "0"})
        self.assertEqual((disabled.status, disabled.failures), (0, []), disabled.errors)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to give it up")
class Users(bed.Case):
    daemon_options = ("--group", "nogroup")

    def test_setuid_after(self):
        """`setuid()` while the device is open"""
        self.compare(f"{FIRST} setuid {SECOND}", LOOP)

    def test_setuid_before(self):
        """`setuid()` before the device is opened"""
        self.compare(f"setuid {LOOP}")

    def test_setuid_between(self):
        """`setuid()` between `ibv_get_device_list()` and `ibv_open_device()`"""
        words = f"list setuid {LOOP}"
        plain = self.run_plain(words)
        self.learn(words)
        self.run_leased(words)
        self.assertEqual(plain.failures, [])
        self.assertEqual({r["uid"] for r in self.daemon.recipes(self.name)}, {NOBODY}, "it was asked for as root")

    def test_chroot_after(self):
        """`chroot()` while the device is open"""
        self.compare(f"{FIRST} chroot:/usr {SECOND}", LOOP)

    @unittest.skipUnless(shutil.which("unshare"), "unshare is not installed")
    def test_chroot_before(self):
        """a `chroot()` without the daemon's socket"""
        root = self.folder / "root"
        root.mkdir()
        script = (f'mount --rbind / {root} && mount -t tmpfs none {root}{self.folder} && exec chroot {root} "$@"')
        plain = self.run_plain(LOOP)
        for _ in range(2):
            warm = self.run_warm(LOOP, prefix=["unshare", "-m", "sh", "-c", script, "sh"])
            self.assertEqual((warm.shape(), warm.leased), (plain.shape(), 0), warm.errors)
        self.assertEqual(self.daemon.recipes(self.name), [])


if __name__ == "__main__":
    bed.main()
