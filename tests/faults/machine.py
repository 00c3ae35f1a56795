# SPDX-License-Identifier: BSD-2-Clause
"""A daemon on a machine at fault: machine.c is preloaded into the daemon and asks a file what is wrong."""

import ctypes
import mmap
import os
import pathlib
import struct
import tempfile

from support import bed

LIBRARY = str(bed.BUILD / "tests/faults/libmachine.so")
FIELDS = ("clock_s", "hold", "held", "accept", "thread", "refused")  # of struct machine
FIELD = struct.Struct("<q")
CLONE_NEWNS = 0x20000
WORDS = ("open pd cq srq qp:rc,srq move:init,rtr,rts traffic:rounds=3 destroy:qps destroy:srq destroy:cqs destroy:pd"
         " close")


class Machine:
    """What is wrong, by name; everything is right at first."""

    def __init__(self):
        with tempfile.NamedTemporaryFile(prefix="machine.", delete=False) as file:
            self.path = pathlib.Path(file.name)
            file.write(bytes(FIELD.size * len(FIELDS)))
            file.flush()
            self._memory = mmap.mmap(file.fileno(), 0)

    def set(self, **values):
        for name, value in values.items():
            FIELD.pack_into(self._memory, FIELD.size * FIELDS.index(name), value)

    def get(self, name):
        return FIELD.unpack_from(self._memory, FIELD.size * FIELDS.index(name))[0]

    def heal(self):
        self.set(**{name: 0 for name in FIELDS if name != "held"})

    def close(self):
        self._memory.close()
        self.path.unlink()


class Case(bed.Case):
    """The daemon's machine is self.machine."""

    @classmethod
    def setUpClass(cls):
        cls.machine = Machine()
        cls.addClassCleanup(cls.machine.close)
        cls.daemon_env = {"MACHINE": str(cls.machine.path),
                          "LD_PRELOAD": " ".join([*bed.runtimes(bed.DAEMON), LIBRARY, bed.STANDIN])}
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.addCleanup(self.machine.heal)

    def check_served(self, words=WORDS, name=None):
        """A program gets a lease, and prints and returns what it does plainly."""
        plain = self.run_plain(words)
        self.assertEqual((plain.status, plain.failures), (0, []), plain.errors)
        warm = self.run_leased(words, name=name)
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)

    def recipe_files(self):
        return sorted((self.folder / "state").rglob("*.json"))

    def await_saved(self, n=1):
        bed.until(lambda: len(self.recipe_files()) == n, f"{n} recipes to be saved: {self.daemon.log()[-2000:]}")

    def await_logged(self, text, after=0):
        bed.until(lambda: text in self.daemon.log()[after:], f"a log line: {text}")


def own_mounts():
    """From here on, what this process mounts is its own. False: it may not."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS):
        return False
    return os.system("mount --make-rprivate / 2>/dev/null") == 0
