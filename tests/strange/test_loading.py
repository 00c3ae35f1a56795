#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that are not linked with libibverbs: they load it and look its functions up, as NCCL does."""

import ctypes
import os
import pathlib
import re
import shutil
import tempfile
import unittest

from support import bed

INIT = "open pd cq srq qp:rc,srq move:init"
WORDS = f"{INIT} move:rtr,rts fork:exit traffic destroy:qps destroy:cqs destroy:srq destroy:pd close"
DIRECT = "open:dv pd cq qp:rc move:init,rtr,rts traffic destroy:qps destroy:cqs destroy:pd close"
VERBS, MLX5 = "libibverbs.so.1", "libmlx5.so.1"


def files(pid):
    """The names of the files that a process has mapped."""
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        return {pathlib.Path(line.split()[-1]) for line in maps if "/" in line}


def others(pid):
    """The providers that a process has loaded besides mlx5's, which is a library for programs, too."""
    return {path.name for path in files(pid) if re.search(r"-rdmav\d+\.so$", path.name)}


class Loading(bed.Case):
    adopted = {}

    def check(self, mode="", libraries=(VERBS,), words=WORDS):
        """It prints what it prints plainly, and adopts what a linked program adopts. @mode: see loaded_verbs.c."""
        with self.subTest(mode=mode, libraries=libraries):
            # On the stand-in, libibverbs finds no device if its calls go straight to libc.
            plain = self.run_plain(words, program=bed.LOADED, env=self.env(mode.replace("d", ""), libraries))
            self.assertEqual((plain.status, plain.failures), (0, []), plain.errors)
            warm = self.leased(words, mode, bed.LOADED, self.env(mode, libraries))
            self.assertEqual(warm.shape(), plain.shape(), warm.errors)
            self.assertEqual([str(e) for e in warm.adopted], self.adopted_linked(words))
            self.assertTrue(self.has_one_provider(True, mode, libraries))

    def adopted_linked(self, words):
        """What a linked program adopts."""
        if words not in self.adopted:
            linked = self.leased(words, "linked", bed.WORDS, {})
            self.adopted[words] = [str(e) for e in linked.adopted]
        return self.adopted[words]

    def env(self, mode, libraries):
        return {"LOADED_MODE": mode, "LOADED_FILES": " ".join(map(str, libraries))}

    def leased(self, words, how, program, env):
        kwargs = {"name": f"{self._runs} {how} {self.name}"[:31], "program": program, "env": env}
        self.learn(words, **kwargs)
        return self.run_leased(words, **kwargs)

    def has_one_provider(self, warm, mode="", libraries=(VERBS,)):
        """Whether it has loaded no provider but the one of the device."""
        program = self.start(f"{INIT} at:listed", warm, program=bed.LOADED, env=self.env(mode, libraries))
        program.reach("listed")
        loaded = others(program.pid)
        self.assertEqual(program.finish().status, 0)
        return not loaded

    def test_loaded(self):
        """a program that loads libibverbs by `dlopen()`, and finds its functions by `dlvsym()` or `dlsym()`"""
        self.assertFalse(self.has_one_provider(False), "plainly, it loads all")
        for mode in "", "lu":
            with self.subTest(mode):
                self.check(mode)

    def test_direct(self):
        """the same with libmlx5, for `mlx5dv_open_device()`"""
        self.check(libraries=(VERBS, MLX5), words=DIRECT)

    @unittest.skipIf(bed.SANITIZED, "sanitizers refuse RTLD_DEEPBIND")
    def test_deep(self):
        """the same with RTLD_DEEPBIND"""
        self.check("d")

    def test_copy(self):
        """the same with a copy of libibverbs in another folder, by its path"""
        installed = next(path for path in files(os.getpid()) if path.name.startswith("libibverbs.so"))
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(installed, pathlib.Path(folder, VERBS))
            plain, warm = (run(WORDS, program=bed.LOADED, env=self.env("", [copy]))
                           for run in (self.run_plain, self.run_warm))
            self.assertEqual((warm.shape(), self.daemon.recipes(self.name)), (plain.shape(), []), warm.errors)
            pathlib.Path(folder, "libibverbs").symlink_to(installed.parent / "libibverbs")
            self.check(libraries=[copy])


if __name__ == "__main__":
    ctypes.CDLL(VERBS)
    bed.main()
