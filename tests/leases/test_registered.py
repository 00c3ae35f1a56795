#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Memory that a lease has registered ahead, for programs that ask for it by wv_alloc_mr()."""

from support import bed, trace

LOOP = "open pd cq qp:rc move:init,rtr,rts"
ONE = "CREATE_MKEY"  # of other memory, which the program registers itself


class Registered(bed.Case):
    def check(self, words, expected, learned=None):
        """Compares with a plain run; @expected: how many registrations are left to the leased program."""
        leased = self.compare(f"{LOOP} {words} at:end", learned and f"{LOOP} {learned} at:end")
        self.assertEqual(leased.marks["end"].get(ONE, 0), expected)
        return leased

    @staticmethod
    def divergences(result):
        return [e.why for e in result.events if e.kind == trace.COMMAND and e.why not in ("", "pass")]

    def test_is_ready(self):
        """Zeroed, and the adapter and the program see the same bytes."""
        self.check("buffer:ready send:fill=7 receive:fill=8 see", 1)

    def test_several(self):
        self.check("buffer:ready buffer:ready send:fill=7 buffer:ready,access=7 receive:fill=8 buffer:ready,bytes=100", 1)

    def test_is_freed(self):
        self.check("buffer:ready buffer:end,ready buffer:ready send:fill=7 buffer:end,ready", 1)

    def test_device_is_closed(self):
        """Memory that was not freed is the program's."""
        self.compare(f"{LOOP} buffer:ready send:fill=7 buffer:end,closed at:end")

    def test_other_length(self):
        leased = self.check("buffer:ready,bytes=20480 send:fill=7", 2, learned="buffer:ready send:fill=7")
        self.assertEqual(self.divergences(leased), ["other value"])

    def test_other_access(self):
        """Memory of that length is registered, but not for that."""
        self.check("buffer:ready,access=7 send:fill=7 receive:fill=8", 2, learned="buffer:ready send:fill=7")

    def test_not_asked_for(self):
        """What is ready and not asked for is in nobody's way, when the PD is deallocated."""
        leased = self.check("destroy:qps destroy:cqs destroy:pd", 0, learned="buffer:ready")
        self.assertEqual(leased.marks["end"]["DESTROY_MKEY"], 1)

    def test_access_in_another_order(self):
        self.check("buffer:ready,access=7 buffer:ready,access=1", 1, learned="buffer:ready buffer:ready,access=7")

    def test_access_that_is_not_prepared(self):
        """Is no divergence, and the lease has the rest."""
        optional = 1 << 22
        leased = self.check(f"buffer:ready,access={1 | optional} buffer:ready send:fill=7", 2)
        self.assertEqual(self.divergences(leased), [])

    def test_refused(self):
        """What the kernel does not register is no memory of the lease, where a queue could get it."""
        words = "open pd buffer:ready,bytes=4096,access=2 cq qp:rc move:init,rtr,rts at:end"
        leased = self.compare(words, failures=1)
        self.assertEqual(trace.made(leased.events, trace.KERNEL), [])

    def test_too_long(self):
        """It is no part of a lease, which has the rest, and no divergence."""
        leased = self.check("buffer:ready,bytes=40000000 buffer:ready send:fill=7", 2)
        self.assertEqual(self.divergences(leased), [])
        self.assertEqual(len([made for made in leased.done(trace.ADOPTED) if made == "create_qp"]), 1)

    def test_ordinary_memory(self):
        """Is never registered ahead, and is no divergence."""
        leased = self.check("buffer:private send:fill=7", 2)
        self.assertEqual(self.divergences(leased), [])

    def test_child(self):
        """Shares the memory with its parent."""
        self.check("buffer:ready turn:child see:fill=9 turn:parent see turn:end", 1)


if __name__ == "__main__":
    bed.main()
