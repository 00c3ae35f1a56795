#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A program with a lease forks; its children end in every way, and use what they inherit."""

import unittest

from support import bed

END = "destroy:qps destroy:srq destroy:cqs destroy:pd close"
WORK = "move:rtr,rts,all traffic"


class Forks(bed.Case):
    def check(self, how):
        """A child ends between any two steps that are adopted."""
        steps = "open pd cq srq qp:rc,srq qp:ud move:init,all".split()
        words = f" fork:{how} ".join(steps) + f" fork:{how} {WORK} fork:{how} {END}"
        warm = self.compare(words, f"{' '.join(steps)} {WORK} {END}")
        self.assertEqual(warm.done(bed.trace.KERNEL), [])

    def test_child_ends_at_once(self):
        self.check("now")

    def test_child_ends_in_order(self):
        """Exit handlers run in the child, which must not send the parent's report."""
        self.check("exit")

    def test_child_crashes(self):
        self.check("crash")

    def test_fork_while_recorded(self):
        """Children add nothing to the parent's recording."""
        words = f"open fork:exit pd cq fork:crash srq qp:rc,srq fork:exit move:init,all {WORK} {END}"
        warm = self.compare(words)
        self.assertEqual(warm.done(bed.trace.KERNEL), [])

    def test_child_does_not_share_the_lease(self):
        """The rest of the lease belongs to the parent: else both would have the same object."""
        words = f"open pd fork:cq cq qp:rc move:init {WORK} destroy:qps destroy:cqs"
        warm = self.compare(words, f"open pd cq qp:rc move:init {WORK}")
        child = warm.remarks("child")[0]
        self.assertEqual(bed.counts(child).get("CREATE_CQ"), 1)
        self.assertNotIn("CREATE_CQ", bed.counts(warm.pid))

    def test_report_is_sent_once(self):
        words = "open pd cq fork:exit qp:rc move:init"
        self.learn(words)
        self.run_leased(words)
        def reports():
            return self.daemon.recipes(self.name)[0]["counters"]["reports"]
        bed.until(reports, "a report")
        counters = self.daemon.recipes(self.name)[0]["counters"]
        self.assertEqual((counters["reports"], counters["hits"], counters["diverged"]), (1, 1, 0))


# Two queue pairs, each with a completion queue: one for the child, one for the parent.
TWO = "open pd cq qp:rc cq qp:rc move:init,rtr,rts,all"
NEW = "cq qp:rc move:init,rtr,rts"


class Inheritance(bed.Case):
    """A child uses its parent's objects: opened without a lease, recorded, and from a lease."""

    def check(self, words):
        all_ok = [0, []]
        for warm in (self.run_warm(words, env={"WARMVERBS_LEASE": "0"}), self.learn(words), self.run_leased(words)):
            self.assertEqual([warm.status, warm.failures], all_ok, warm.lines)
            self.assertEqual(warm.lines[-1].split()[1], "ok", warm.lines)

    def test_posts_and_polls(self):
        """The adapter reads the child's queues, and memory that the child registers."""
        self.check(f"{TWO} turn:child traffic:qp=0 turn:parent traffic:qp=1 turn:end")

    def test_sleeps(self):
        self.check("open pd channel cq:channel qp:rc move:init,rtr,rts turn:child traffic:events turn:end close")

    def test_crashes(self):
        self.check(f"{TWO} turn:child traffic:qp=0,rounds=3 crash turn:parent traffic:qp=1 destroy:qps")

    def test_outlives_its_parent(self):
        self.check(f"{TWO} turn:child traffic:qp=0 turn:parent exit turn:child traffic:qp=0 {NEW} traffic:qp=2")

    def test_makes_and_destroys(self):
        self.check(f"{TWO} turn:child {NEW} traffic:qp=2 destroy:qps turn:end")

    def test_makes_at_the_same_time(self):
        """Parent and child never get the same doorbell record."""
        self.check(f"{TWO} turn:child {NEW} turn:parent {NEW} traffic:qp=2 turn:child traffic:qp=2 "
                   "turn:parent destroy:qps turn:child traffic:qp=2 turn:end")

    def test_child_of__fork_makes_at_the_same_time(self):
        """The same where no handler of a fork is called."""
        self.check(f"{TWO} turn:child,unseen {NEW} turn:parent {NEW} traffic:qp=2 turn:child traffic:qp=2 exit "
                   "turn:parent traffic:qp=2 turn:end")

    def check_left(self, words, learned="open pd cq qp:rc move:init"):
        """The child does not rely on what the lease was before the fork."""
        self.compare(words, learned)

    def test_moves_what_was_moved_ahead(self):
        self.check_left("open pd cq qp:rc turn:child move:init,rtr,rts turn:parent query turn:end")

    def test_moves_further_than_the_parent(self):
        """The parent adopts a move after the fork; the child then moves on from there."""
        self.check_left("open pd cq qp:rc turn:child turn:parent move:init turn:child move:rtr,rts "
                        "turn:parent query turn:end")

    def test_looks_before_the_parent_moves(self):
        self.check_left("open pd cq qp:rc turn:child query turn:parent query move:init query "
                        "turn:child query move:rtr,rts turn:parent query turn:end")

    def test_destroys_what_is_busy_ahead(self):
        self.check_left("open pd turn:child destroy:pd turn:parent pd cq qp:rc move:init,rtr,rts traffic turn:end")

    def test_grandchild(self):
        """A child with objects of its own can fork in turn."""
        self.check(f"{TWO} turn:child {NEW} keeper:rc {NEW} traffic:qp=3 turn:end")


SHARE = {"WARMVERBS_SHARE_MR": "1"}
LOOP = "open pd cq qp:rc move:init,rtr,rts"


class Memory(bed.Case):
    """Does the adapter use the child's memory or the parent's? The words print the first, middle and last byte."""

    def check(self, words, expected, copied, env=None):
        for options in ({"WARMVERBS_LEASE": "0"}, {}):
            result = self.run_warm(f"{LOOP} {words}", env={**options, **(env or {})})
            said = [line.partition(" ok ")[2] for line in result.lines if line.startswith(("send", "receive", "see"))]
            self.assertEqual((result.status, result.failures, said), (0, [], expected), result.errors)
            self.assertEqual(len([e for e in result.events if e.kind == bed.trace.COPIED]), copied)

    POSTS = "turn:child send:fill=7 send:fill=7 receive:fill=8 turn:parent see turn:end"

    def test_private(self):
        """The adapter reads and writes the parent's memory, not the child's copy."""
        self.check(f"buffer:private {self.POSTS}", ["0 0 0", "0 0 0", "7 7 7", "8 8 8"], 1)

    def test_shared(self):
        self.check(f"buffer:shared {self.POSTS}", ["7 7 7", "7 7 7", "8 8 8", "8 8 8"], 0)

    def test_registered_by_the_child(self):
        self.check("turn:child buffer:private send:fill=7 receive:fill=8 turn:end", ["7 7 7", "8 8 8"], 0)

    def test_posted_by_the_parent(self):
        self.check("buffer:private turn:child turn:parent send:fill=7 receive:fill=8 turn:end", ["7 7 7", "8 8 8"], 0)

    def test_made_shared(self):
        """Whole pages are shared; pages that also hold other data are not."""
        self.check(f"buffer:private,aligned {self.POSTS}", ["7 7 7", "7 7 7", "8 8 8", "8 8 8"], 0, SHARE)
        self.check(f"buffer:private {self.POSTS}", ["0 7 0", "0 7 0", "7 8 7", "8 8 8"], 1, SHARE)

    def test_made_private_again(self):
        self.check("buffer:private,aligned send:fill=5 buffer:end see turn:child see:fill=9 turn:parent see turn:end",
                   ["5 5 5", "5 5 5", "9 9 9", "5 5 5"], 0, SHARE)

    def test_as_long_as_it_is_registered(self):
        self.check("buffer:private,aligned buffer:again buffer:end turn:child see:fill=9 turn:parent see turn:end "
                   "buffer:end,again see", ["9 9 9", "9 9 9", "9 9 9"], 0, SHARE)

    def test_unmapped_while_registered(self):
        self.check("buffer:private,aligned buffer:end,unmapped buffer:private,aligned send:fill=5", ["5 5 5"], 0, SHARE)


class ForkSafe(bed.Case):
    """Children have no registered memory: the stand-in's kernel does not claim to copy pinned pages at fork()."""

    SAFE = {"IBV_FORK_SAFE": "1"}
    HUGE = {"RDMAV_HUGEPAGES_SAFE": "1", "RDMAV_FORK_SAFE": "1"}
    # A sanitizer would turn the intended crash into an exit.
    CRASHES = {"ASAN_OPTIONS": "detect_leaks=0:handle_segv=0", "TSAN_OPTIONS": "handle_segv=0"}

    def test_asked_for(self):
        """After ibv_fork_init() has kept memory from children, sharing it is too late."""
        self.compare("fork-init open pd cq fork-init", "open pd cq", name="first")
        self.compare("open pd fork-init cq fork-init", "open pd cq", name="before")
        self.compare("open pd cq fork-init", "open pd cq", name="after", failures=1)

    def test_queues_stay(self):
        """Queues of a lease, and queues of the program."""
        words = f"{TWO} turn:child traffic:qp=0 {NEW} traffic:qp=2 turn:parent traffic:qp=1 turn:end"
        self.learn(words)
        for env in (self.SAFE, self.HUGE):
            for result in (self.run_warm(words, env={**env, "WARMVERBS_LEASE": "0"}), self.run_leased(words, env=env)):
                self.assertEqual((result.status, result.failures), (0, []), result.lines)

    def test_registered_memory_goes(self):
        """As without warmverbs: the child crashes when it touches them."""
        words = f"{LOOP} buffer:private,aligned turn:child see:fill=7 turn:parent turn:end"
        self.compare(words, f"{LOOP} buffer:private,aligned", failures=1, env={**self.SAFE, **self.CRASHES})

    def test_what_is_shared_stays(self):
        words = f"{LOOP} buffer:private,aligned turn:child send:fill=7 turn:parent see turn:end"
        result = self.run_warm(words, env={**self.SAFE, **SHARE})
        self.assertEqual(result.lines[-2], "see ok 7 7 7", result.lines)


class Storm(bed.Case):
    """Processes are made in every way while threads open the device: none of them hangs, and the threads go on."""

    STORM = str(bed.BUILD / "tests/leases/storm")

    def check(self, **env):
        # ThreadSanitizer blames a child that ends for its parent's threads.
        result = self.run_warm("", program=self.STORM, env=env)
        self.assertEqual((result.status, result.lines), (0, ["ok"]), result.errors)
        return result

    def test_storm(self):
        self.check(WARMVERBS_LEASE="0")
        self.check()  # some of it is recorded
        self.daemon.await_ready(self.name)
        self.assertTrue(self.check().adopted)


class Data(bed.Case):
    PROGRAM = bed.BUILD / "tests/leases/data_buffer"

    @unittest.skipUnless(PROGRAM.exists(), "built without ibv_alloc_buf(), which rdma-core 65 has")
    def test_buffer_of_the_provider(self):
        """It takes the place of no queue in the lease, and a child has a copy."""
        warm = self.compare("", program=str(self.PROGRAM))
        self.assertEqual(warm.lines, ["p"])
        self.assertEqual(warm.done(bed.trace.KERNEL), [])


if __name__ == "__main__":
    bed.main()
