#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Ten thousand forks with random kills, or as many as a busy machine has time for, leave no object, descriptor, mapping,
thread or process behind."""

import zygotes
from support.zygote import END_SRQ
from zygotes import END, INIT, PLAIN, SETS, WORK, bed

CHILDREN = 1000 if bed.SANITIZED else 10000
SECONDS = 8  # for half of them
AT_ONCE = 8
MICROSECONDS = 4000  # about twice the run of a child that gets a set
LARGE = "open channel pd cq:channel cq:ex srq qp:rc,cq=0,n=4 qp:rc,srq qp:ud move:init,all"


class Storm(zygotes.Case):
    def storm(self, started, words, children, more):
        self.assertEqual(started.storm(children, AT_ONCE, MICROSECONDS, words, SECONDS), 0, started.errors())
        self.assertEqual(bed.children_of(started.pid), [])
        bed.until(lambda: self.teach_again(started, words, more), f"{SETS} sets; {bed.ctl('objects')}")

    def teach_again(self, started, words, more):
        """Another child may have taught something else, or have been the last one that what was taught did not fit:
        then there are no sets until a child teaches again."""
        self.assertEqual(started.run(words).status, 0)
        started.run("exit")
        self.await_quiet()
        return self.sets_there(SETS, more)

    def check(self, words, children, script=None):
        """In two halves: the heap may grow in the first, a sanitizer's most of all; a leak grows in both."""
        started = self.taught(script or words, WARMVERBS_TRACE="")
        before = self.held(started)
        self.storm(started, words, children // 2, more=script is not None)
        mappings = started.mappings()
        self.storm(started, words, children // 2, more=script is not None)
        if script is None:  # else there may be another script, with larger sets
            self.assertEqual(self.held(started), before)
            self.assertLessEqual(started.mappings(), mappings + 8)  # the heap's
        self.assertEqual(started.run(words).status, 0)
        self.finish(started)

    def test_small(self):
        self.check(PLAIN, CHILDREN)

    def test_large(self):
        self.check(f"{LARGE} move:rtr,rts,all traffic:qp=4 traffic:qp=5 {END_SRQ}", CHILDREN // 10)

    def test_differing(self):
        """The kernel makes half of the objects, and some of the set must be destroyed first."""
        self.check(f"open pd cq:depth=300 qp:rc,send=100 qp:rc move:init,all {WORK} {END}", CHILDREN // 10, script=INIT)

    def test_uninterested(self):
        self.check("fork:now exit", CHILDREN // 10, script=PLAIN)

    def test_nested(self):
        """Children that fork while they make objects, and their children fork again."""
        self.check(f"fork:exit open fork:exit pd fork:crash cq qp:rc move:init {WORK}", CHILDREN // 20, script=PLAIN)

    def test_with_a_daemon(self):
        """A child that finds no set asks for a lease."""
        self.start_daemon()
        started = self.taught(PLAIN, WARMVERBS_TRACE="")
        self.assertEqual(started.storm(CHILDREN // 10, 4 * AT_ONCE, MICROSECONDS, PLAIN, SECONDS), 0)
        started.run("exit")
        self.await_sets(SETS)
        self.finish(started)


if __name__ == "__main__":
    zygotes.main(tsan=True)
