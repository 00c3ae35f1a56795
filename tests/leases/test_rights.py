#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A lease gives a program no capability that it lacks, and takes its capabilities away for one run at most.

The daemon runs as root here, and so do programs unless a case says otherwise. As the driver does, the stand-in keeps
the capabilities of the process that made a context, and refuses raw objects in contexts made without them.
"""

import os
import shutil
import unittest

from support import bed

NOBODY = 65534
SQ, EQ = "devx:opcode=0x904", "devx:opcode=0x301"  # CREATE_SQ wants CAP_NET_RAW, CREATE_EQ CAP_SYS_RAWIO
ANYONE = "devx:opcode=0x802"  # ALLOC_XRCD wants neither
SMALL = "open pd cq qp:rc move:init"
RAW = {
    "send_queue": f"{SMALL} {SQ}",
    "event_queue": f"{SMALL} {EQ}",
    "raw_packets": f"{SMALL} qp:raw",
    "flow": f"{SMALL} flow",
}


@unittest.skipUnless(os.geteuid() == 0, "needs root, to have rights and to give them up")
class Rights(bed.Case):
    daemon_options = ("--group", "nogroup")  # unprivileged programs may connect

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Copies that other users can read, wherever the build is.
        for name in ("WORDS", "PRELOAD", "STANDIN"):
            copy = cls.folder / bed.pathlib.Path(getattr(bed, name)).name
            shutil.copy(getattr(bed, name), copy)
            copy.chmod(0o755)
            setattr(cls, name.lower(), str(copy))

    def as_nobody(self):
        """Options that start a program without any capability."""
        return {"prefix": ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"],
                "program": self.words, "lib": self.preload, "standin": self.standin}

    def without(self, capability):
        """As root, but without one capability."""
        return {"prefix": ["setpriv", f"--bounding-set=-{capability}", f"--inh-caps=-{capability}"]}

    def test_daemon_has_none(self):
        """So the contexts that it makes have none either."""
        status = bed.pathlib.Path(f"/proc/{self.daemon.pid}/status").read_text(encoding="ascii")
        effective = int(status.partition("CapEff:")[2].split()[0], 16)
        self.assertEqual(effective & (1 << 13 | 1 << 17), 0)

    def test_nobody_gains_none(self):
        """An unprivileged program is refused, with and without a lease."""
        words = f"{SMALL} {SQ} {EQ} qp:raw {ANYONE}"
        plain = self.run_plain(words, **self.as_nobody())
        self.assertEqual([f.split()[-1] for f in plain.failures], ["EPERM"] * 3, plain.lines + [plain.errors])
        self.learn(SMALL, **self.as_nobody())
        warm = self.run_leased(words, **self.as_nobody())
        self.assertEqual(warm.shape(), plain.shape())
        again = self.run_leased(words, **self.as_nobody())
        self.assertEqual(again.shape(), plain.shape())

    def test_root_is_served(self):
        words = f"{SMALL} {ANYONE} at:ready move:rtr,rts traffic"
        plain = self.run_plain(words)
        self.learn(SMALL)
        warm = self.run_leased(SMALL + " at:ready move:rtr,rts traffic")
        self.assertEqual((warm.marks["ready"], warm.failures, plain.failures), ({}, [], []))

    def check_never_again(self, words):
        """From now on it gets no lease, and the results of plain verbs."""
        plain = self.run_plain(words)
        for _ in range(3):
            warm = self.run_warm(words)
            self.assertEqual((warm.leased, warm.shape()), (0, plain.shape()), warm.errors)
            bed.until(lambda: self.daemon.n_connected() == 1, "the last of the program's recording")
            bed.until(self.has_what_it_can, "all leases that there will be")

    def has_what_it_can(self):
        return all(r["unfit"] or r["pool"]["ready"] >= max(1, r["pool"]["target"])
                   for r in self.daemon.recipes(self.name))

    def has_heard(self):
        """Whether the daemon knows how every run with a lease went."""
        return all(r["counters"]["reports"] == r["counters"]["hits"] for r in self.daemon.recipes(self.name))

    def test_root_that_uses_raw_objects(self):
        for name, words in RAW.items():
            with self.subTest(name):
                self.name = name
                self.check_never_again(words)

    def test_root_that_uses_them_later(self):
        """The first time it has a lease, and is refused. After that it gets no lease."""
        for name, words in RAW.items():
            with self.subTest(name):
                self.name = f"later_{name}"
                self.learn(SMALL)
                self.run_leased(words)
                bed.until(self.has_heard, "the program's report: a busy daemon hears newcomers first")
                self.check_never_again(words)

    def test_root_without_one_of_them(self):
        """The capability decides, not the user id."""
        plain = self.run_plain(f"{SMALL} {SQ} {EQ}", **self.without("net_raw"))
        self.assertEqual(plain.failures, [f"{SQ} failed: EPERM"], plain.errors)


if __name__ == "__main__":
    bed.main()
