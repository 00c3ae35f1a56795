#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each allocation of the preload fails in turn, and each of the command line: programs get what plain verbs give."""

import collections
import json
import operator
import struct
import subprocess

from support import bed, cases, zygote

FAILING = str(bed.BUILD / "tests/faults/libfailing.so")
ZYGOTE = str(bed.BUILD / "tests/programs/zygote")
MAKE = "open channel pd cq:channel cq srq qp:rc,srq qp:ud mr move:init,all"
USE = "move:rtr,rts,all traffic fork:exit destroy:qps destroy:srq destroy:cqs destroy:channel destroy:mr"
AGAIN = "open pd cq qp:rc move:init close"
WORDS = f"{MAKE} {USE} destroy:pd close {AGAIN}"
MOST = 5000  # allocations; a run that needs more never ends


class Sweep(bed.Case):
    def failing(self, n, by=None):
        """The environment of a program whose allocation @n fails. Of those, reached() tells whether there was one."""
        self.counter = self.folder / "counter"
        self.counter.write_bytes(struct.pack("I", 0))
        return {"FAILING_AT": str(n), "FAILING_COUNTER": str(self.counter), **({"FAILING_BY": by} if by else {})}

    def reached(self, n):
        return struct.unpack("I", self.counter.read_bytes())[0] >= n

    def sweep(self, try_one):
        """Calls @try_one for the first allocation, the second, and so on; returns how many there are."""
        for n in range(1, MOST):
            with self.subTest(f"allocation {n}"):
                try_one(n)
            if not self.reached(n):
                return n - 1
        raise AssertionError(f"more than {MOST} allocations")


class Programs(Sweep):
    """The library's allocations fail, not the program's."""

    def check(self, words, warm, env=None):
        expected = self.run_plain(words)
        self.assertEqual((expected.status, expected.failures), (0, []), expected.errors)
        if warm and not self.daemon.recipes(self.name):
            self.learn(words, n=2)

        def try_one(n):
            if warm:
                self.daemon.await_ready(self.name)
            name = self.name if warm else f"{self.name}.{n}"
            failing = {**self.failing(n, "libwarmverbs.so"), **(env or {})}
            result = self.run_warm(words, name=name, env=failing, standin=f"{FAILING} {bed.STANDIN}")
            self.assertEqual(result.shape(), expected.shape(), result.errors)
        print(f"{self.name}: {self.sweep(try_one)} allocations", flush=True)

    def test_cold(self):
        self.check(WORDS, warm=False)

    def test_warm(self):
        self.check(WORDS, warm=True)

    def test_diverging(self):
        self.learn(WORDS, n=2)
        self.check(WORDS.replace("cq:channel", "cq:channel,depth=300"), warm=True)

    def test_shared_memory_regions(self):
        self.check(WORDS, warm=False, env={"WARMVERBS_SHARE_MR": "1"})


    def test_child(self):
        """A child makes objects in its parent's context, in memory of its own."""
        self.check("open pd cq qp:rc turn:child cq qp:rc move:init,rtr,rts traffic:qp=1 turn:end close", warm=False)


class Zygotes(Sweep):
    """A parent that makes objects for its children, with a thread for that."""

    def children(self, env, warm):
        errors = self.folder / "errors"
        started = zygote.First([ZYGOTE], bed.environment(ZYGOTE, warm, env, standin=f"{FAILING} {bed.STANDIN}"), errors)
        self.addCleanup(started.abort)
        shapes = [started.run(f"{zygote.INIT} move:rtr,rts,all traffic {zygote.END}").shape for _ in range(4)]
        return shapes, started.end(), started.errors()

    def test_prefork(self):
        plain = self.children({}, False)
        self.assertEqual(plain[1:], (0, ""))
        prefork = {"WARMVERBS_PREFORK": "2", "WARMVERBS_LEASE": "0"}

        def try_one(n):
            self.assertEqual(self.children({**prefork, **self.failing(n, "libwarmverbs.so")}, True), plain)
        print(f"{self.name}: {self.sweep(try_one)} allocations", flush=True)


class CommandLine(Sweep):
    """All allocations fail. The command says so, or prints what it always does."""

    def run_failing(self, n, command):
        env = {**bed.CLEAN, "LD_PRELOAD": FAILING, "LC_ALL": "C", **self.failing(n)}
        return subprocess.run([bed.CLI, *command], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=bed.LIMIT_S, check=False)

    def check(self, *command, agree=operator.eq):
        expected = self.run_failing(0, command)
        self.assertEqual(expected.returncode, 0, expected.stderr)

        def try_one(n):
            result = self.run_failing(n, command)
            self.assertGreaterEqual(result.returncode, 0, "the signal that ended it")
            if result.stderr:
                self.assertTrue(result.stderr.startswith("warmverbs: "), result.stderr)
            else:
                self.assertEqual(result.returncode, 0)
                self.assertTrue(agree(result.stdout, expected.stdout), f"{result.stdout}\nis not\n{expected.stdout}")
        print(f"{' '.join(command[:2])}: {self.sweep(try_one)} allocations", flush=True)

    def test_queries(self):
        self.learn("open pd cq close")
        socket = ("--socket", str(self.daemon.socket))
        recipe = self.daemon.recipes(self.name)[0]["id"]
        self.check("status", *socket, agree=tables_agree)
        self.check("status", "--json", *socket, agree=documents_agree)
        self.check("recipes", *socket, "list", agree=tables_agree)
        self.check("recipes", *socket, "show", recipe, agree=tables_agree)

    def test_explain(self):
        self.check("explain", "--json", "--output", "/dev/stdout", "--", "true", agree=documents_agree)


def tables_agree(text, expected):
    """Whether the words agree; numbers change. libsmartcols (2.38) may leave one cell out, and not say so."""
    def words(of):
        return collections.Counter(word for word in of.split() if not word[0].isdigit())
    return not words(text) - words(expected) and (words(expected) - words(text)).total() <= 1


def documents_agree(text, expected):
    return json.loads(text).keys() == json.loads(expected).keys()


if __name__ == "__main__":
    cases.main("a sanitizer's malloc() comes before the one that fails" if bed.SANITIZED else None)
