#!/usr/bin/env python3
"""Ten thousand forks with random kills: no object, descriptor, mapping, thread or process is left over."""

import os
import time

import zygotes
from zygotes import END, END_SRQ, INIT, PLAIN, SETS, WORK, bed

CHILDREN = 1000 if bed.SANITIZED else 10000
AT_ONCE = 8
MICROSECONDS = 4000  # about twice as long as a child that is ready takes
LARGE = "open channel pd cq:channel cq:ex srq qp:rc,cq=0,n=4 qp:rc,srq qp:ud move:init,all"


def held(started):
    return started.descriptors(), started.threads()


def children_of(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
            found += children.read().split()
    return found


class Storm(zygotes.Case):
    def check(self, words, children, script=None):
        started = self.taught(script or words, WARMVERBS_TRACE="")
        before, mappings = held(started), started.mappings()
        start = time.monotonic()
        failed = started.ask("storm", children, AT_ONCE, MICROSECONDS, *words.split())
        print(f"{children / (time.monotonic() - start):.0f} children per second", flush=True)
        self.assertEqual(failed, 0, started.errors())
        self.assertEqual(children_of(started.pid), [])
        self.assertEqual(started.run(words).status, 0)  # teaches, if the last ones that lived to do it were others
        started.run("exit")
        self.await_sets(SETS, more=script is not None)
        if script is None:  # else there may be another script by now, whose sets are larger
            self.assertEqual(held(started), before)
            self.assertLessEqual(started.mappings(), mappings + 8)  # the heap's
        self.assertEqual(started.run(words).status, 0)
        self.finish(started)

    def test_small(self):
        self.check(PLAIN, CHILDREN)

    def test_large(self):
        self.check(f"{LARGE} move:rtr,rts,all traffic:qp=4 traffic:qp=5 {END_SRQ}", CHILDREN // 10)

    def test_differing(self):
        """The kernel makes half of it, and some of what was ready is in the way."""
        self.check(f"open pd cq:depth=300 qp:rc,send=100 qp:rc move:init,all {WORK} {END}", CHILDREN // 10, script=INIT)

    def test_uninterested(self):
        self.check("fork:now exit", CHILDREN // 10, script=PLAIN)

    def test_nested(self):
        """Children that fork, and fork again, in the middle of all."""
        self.check(f"fork:exit open fork:exit pd fork:crash cq qp:rc move:init {WORK}", CHILDREN // 20, script=PLAIN)

    def test_with_a_daemon(self):
        """Who finds no set asks for a lease."""
        self.start_daemon()
        started = self.taught(PLAIN, WARMVERBS_TRACE="")
        self.assertEqual(started.ask("storm", CHILDREN // 10, 4 * AT_ONCE, MICROSECONDS, *PLAIN.split()), 0)
        started.run("exit")
        self.await_sets(SETS)
        self.finish(started)


if __name__ == "__main__":
    zygotes.main(tsan=True)
