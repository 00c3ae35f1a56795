#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Each child takes a set of its own without a system call; children without a set use a lease or plain verbs."""

import errno
import os
import signal

import zygotes
from support import cases, pools
from support.zygote import END_SRQ
from zygotes import END, INIT, PLAIN, SETS, WORK, bed, trace

# What a child does until its queue pairs need a peer, and after that.
SHAPES = {
    "rc": (INIT, WORK),
    "uc": ("open pd cq qp:uc move:init", WORK),
    "ud": ("open pd cq qp:ud move:init,rtr,rts", "traffic"),
    "srq": ("open pd cq srq qp:rc,srq move:init", WORK),
    "events": ("open channel pd cq:channel qp:rc move:init", "move:rtr,rts traffic:events"),
    "cq_ex": ("open pd cq:ex qp:rc move:init", WORK),
    "qp_ex": ("open pd cq qp:rc,ex move:init", WORK),
    "ud_ex": ("open pd cq:ex qp:ud,ex move:init,rtr,rts", "traffic"),
    "two_cqs": ("open pd cq:depth=10 cq:depth=300,vector=1 qp:rc,cq=0 qp:rc,cq=1 move:init,all", WORK),
    "many": ("open pd cq:depth=1000 qp:rc,n=16 move:init,all", WORK),
    "later": ("open pd cq qp:rc,n=2 move:init,qp=1 qp:rc move:init,qp=0 move:init,qp=2", WORK),
}
# Not made ahead, or not all of it: the results must be the same.
OTHERS = {
    "dct": "open pd cq srq qp:dct,srq move:init,rtr qp:dci move:init,rtr,rts traffic:dc",
    "dv_open": f"open:dv {INIT.removeprefix('open')} {WORK}",
    "dv_qp": f"open pd cq qp:rc,dv,ex move:init {WORK}",
    "allocators": f"open allocators pd cq qp:rc move:init {WORK}",
    "parent": f"open pd parent cq:ex qp:rc move:init {WORK}",
    "devx": f"open:dv=1 devx pd cq qp:rc move:init {WORK}",
    "attributes": f"open attributes pd cq qp:rc move:init {WORK}",
    "nothing": "open close",
    "list": "open pd destroy:pd close",
    "forks": f"open fork:exit pd fork:crash cq qp:rc fork:cq move:init fork:exit {WORK} {END}",
}


class Taking(zygotes.Case):
    def check_silent(self, before, after, end):
        """The first child teaches, the second takes a set; the results of both are those of plain verbs."""
        words = f"silent {before} spoken {after} {end}"
        plain = self.plain(words)[0]
        started = self.taught(words, sets=1, WARMVERBS_TRACE="")  # writing records would be system calls
        child = started.run(words)
        self.assertEqual(child.shape, plain, started.errors())
        self.assert_silent(child)
        self.finish(started)

    def check_other(self, words):
        plain = self.plain(words)[0]
        started = self.start()
        for _ in range(4):
            self.assertEqual(started.run(words).shape, plain, started.errors())
        self.finish(started)

    def test_loaded(self):
        """A zygote that loads libibverbs itself."""
        self.program = zygotes.LOADED
        self.check_silent(*SHAPES["rc"], END)

    def test_another_vector(self):
        """A queue without a channel: nobody can tell that its vector is not the one that the child asked for."""
        words = f"silent open pd cq:vector=%d qp:rc move:init spoken {WORK} {END}"
        plain = self.plain(words % 2)[0]
        started = self.taught(words % 1, sets=1, WARMVERBS_TRACE="")
        child = started.run(words % 2)
        self.assertEqual(child.shape, plain, started.errors())
        self.assert_silent(child)
        self.finish(started)

    def test_one_after_another(self):
        plain = self.plain(PLAIN)[0]
        started = self.taught(PLAIN)
        for _ in range(10):
            child = started.run(PLAIN)
            self.assertEqual(child.shape, plain)
            self.assert_ready(child)
            self.await_sets(SETS)
        self.finish(started)

    def many_at_once(self, started, n):
        words = f"{INIT} at:ready {WORK} at:worked {END}"
        children = [started.fork(words) for _ in range(n)]
        numbers = [child.reach("ready").remarks("qp")[0] for child in children]
        self.assertEqual(len(set(numbers)), n, "a queue pair of two children")
        for name in ("worked", None):
            for child in children:
                child.go_on()
            for child in children if name else ():
                child.reach(name)
        plain = self.plain(PLAIN)[0]
        for child in children:
            self.assertEqual(child.finish().shape, plain, started.errors())
        return children

    def test_more_at_once_than_sets(self):
        started = self.taught(PLAIN)
        children = self.many_at_once(started, 4 * SETS)
        for child in children[:SETS]:
            self.assert_ready(child)
        self.finish(started)

    def test_no_more_sets_then_leases(self):
        """The zygote can make no more sets: the next children get leases, and the last ones neither."""
        self.start_daemon("--max-leases-per-recipe", "2")
        started = self.taught(PLAIN)
        bed.until(lambda: self.daemon.status()["recipes"], "a recipe")
        for _ in cases.attempts():  # on a busy machine, the daemon may come too late for all of them
            self.await_sets(SETS)  # which may have come from leases
            self.await_leases()
            bed.ctl("fail", "create_qp", errno.ENOMEM, 1, 1000000, started.pid)
            children = self.many_at_once(started, 4 * SETS)
            bed.ctl("clear")
            for child in children[:SETS]:
                self.assert_ready(child)
            if leased := sum(self.opens(child, trace.ADOPTED) for child in children):
                break
        self.assertGreater(leased, 0)
        self.finish(started)

    def await_leases(self):
        bed.until(lambda: pools.are_full(self.daemon.status()["recipes"]), "leases")

    def test_sets_come_back_after_a_fault(self):
        started = self.start(sets=1)
        plain = self.plain(PLAIN)[0]
        started.run(PLAIN)
        bed.ctl("fail", "create_qp", errno.ENOMEM, 1, 3, started.pid)
        for _ in range(4):
            self.assertEqual(started.run(PLAIN).shape, plain)
        bed.ctl("clear")
        started.run("exit")
        bed.until(lambda: self.ready(started.run(PLAIN)), "a child with a set")
        self.finish(started)

    def test_several_opens(self):
        words = f"{INIT} {INIT} {INIT} move:rtr,rts,all traffic"
        plain = self.plain(words)[0]
        started = self.taught(words, sets=2, opens=3)
        child = started.run(words)
        self.assertEqual(child.shape, plain)
        self.assert_ready(child, opens=3)
        self.finish(started)

    def test_each_child_something_else(self):
        """More kinds of children than the zygote keeps scripts."""
        kinds = [f"open pd cq:depth={depth} qp:rc,send={send} move:init {WORK}"
                 for depth in (10, 200, 3000) for send in (1, 10, 100)]
        plain = self.plain(*kinds)
        started = self.start()
        for _ in range(3):
            for words, shape in zip(kinds, plain):
                self.assertEqual(started.run(words).shape, shape)
        self.finish(started)

    def test_zygote_uses_the_device_itself(self):
        plain = self.plain(PLAIN)[0]
        started = self.start()
        self.assertEqual(started.ask("do", *f"{INIT} {WORK}".split()), 0)
        started.run(PLAIN)
        started.run("exit")
        for _ in range(5):
            self.assertEqual(started.run(PLAIN).shape, plain)
        self.assertEqual(started.ask("do", *f"traffic {END}".split()), 0)
        self.finish(started)

    def test_off(self):
        """A program that does not ask for sets gets none."""
        for value in ("", "0"):
            started = self.start(WARMVERBS_PREFORK=value)
            for _ in range(3):
                self.assertEqual(self.ready(started.run(PLAIN)), 0)
            self.assertEqual(bed.ctl("objects")["contexts"], 0)
            self.finish(started)

    def test_killed_child_leaves_nothing(self):
        started = self.taught(PLAIN)
        for words in (f"at:here {PLAIN}", f"open pd at:here {PLAIN}", f"{INIT} at:here", f"{INIT} {WORK} at:here"):
            child = started.fork(words).reach("here")
            os.kill(child.pid, signal.SIGKILL)
            self.assertEqual(child.finish().status, -signal.SIGKILL)
            self.await_sets(SETS)
        self.finish(started)


def add_cases():
    for name, (before, after) in SHAPES.items():
        def silent(self, before=before, after=after):
            self.check_silent(before, after, END_SRQ if "srq" in before else END)
        setattr(Taking, f"test_silent_{name}", silent)
    for name, words in OTHERS.items():
        setattr(Taking, f"test_other_{name}", lambda self, words=words: self.check_other(words))


add_cases()
if __name__ == "__main__":
    zygotes.main()
