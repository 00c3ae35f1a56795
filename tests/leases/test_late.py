#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A recipe does not end at the first connection: what a program creates after it is leased too, unless it varies."""

import signal

from support import bed, cases, trace

OPEN = "open pd"
CONNECTION = "channel cq:channel qp:rc move:init move:rtr,rts"
TWICE = f"{OPEN} {CONNECTION} {CONNECTION}"
OBJECTS = 64  # FOLLOW_OBJECTS of src/preload/lease/news.c
OPENS = 16  # WV_KEY_OPENS of src/store/recipe.h
RUNS = 8  # WV_RECIPE_RUNS of src/store/recipe.h


class Late(bed.Case):
    def recipe(self):
        recipe, = self.daemon.recipes(self.name)
        return recipe

    def leave(self, words, with_signal=signal.SIGTERM, **kwargs):
        """Starts a program that the daemon answers in time, and ends it by a signal when it has done the words."""
        program = self.start_answered(words + " at:end", "end", **kwargs)
        program.process.send_signal(with_signal)
        program.process.wait(bed.LIMIT_S)
        program.close()

    def check_all_adopted(self, result):
        self.assertEqual((result.status, result.failures), (0, []))
        self.assertEqual(result.done(trace.KERNEL), [])

    def test_second_connection(self):
        """One queue pair is connected, and then another channel, queue and queue pair are created."""
        warm = self.compare(TWICE)
        self.check_all_adopted(warm)
        self.assertEqual(warm.done(trace.ADOPTED).count("create_qp"), 2)
        bed.until(lambda: self.recipe()["counters"]["reports"], "the report")
        self.assertEqual(self.recipe()["counters"]["diverged"], 0)
        self.assertEqual(self.recipe()["counters"]["unused"], 0)

    def test_killed(self):
        """Nothing is sent when a signal ends the program, so all is known before."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            name = f"killed_{number}"
            self.leave(TWICE, number, name=name)
            bed.until(lambda name=name: self.daemon.recipes(name), "the recipe")
            self.check_all_adopted(self.run_leased(TWICE + " at:end", name=name))

    def test_killed_after_the_last_of_many(self):
        """The last connection alone is too little to be sent at once, but is sent before the program is idle."""
        words = f"{OPEN} cq {' '.join(['qp:rc move:init move:rtr,rts'] * 10)} destroy:qps destroy:cqs"
        self.leave(words)
        bed.until(lambda: self.daemon.recipes(self.name), "the recipe")
        self.check_all_adopted(self.run_leased(words + " at:end"))

    def test_killed_without_a_peer(self):
        """Nothing of UD depends on a peer, so no command shows that the program is connected."""
        words = "open pd cq qp:ud,n=3 move:all,init move:all,rtr move:all,rts"
        self.leave(words)
        bed.until(lambda: self.daemon.recipes(self.name), "the recipe")
        self.check_all_adopted(self.run_leased(words + " at:end"))

    def test_exit(self):
        words = TWICE + " cq exit"  # the last one comes after the last connection
        self.learn(words)
        self.check_all_adopted(self.run_leased(words))

    def test_endless(self):
        """The program that is recorded never ends; others like it are served meanwhile."""
        first = self.start_answered(TWICE + " at:end", "end")
        bed.until(lambda: self.daemon.recipes(self.name), "the recipe")
        self.check_all_adopted(self.run_leased(TWICE + " at:end"))
        self.assertIsNone(first.process.poll())

    def test_preliminary_recipes_go(self):
        """A recording is sent more than once; the last one is kept."""
        words = f"{OPEN} {' '.join([CONNECTION] * 5)}"
        self.learn(words)
        self.assertEqual(len(self.daemon.recipes(self.name)), 1)
        self.check_all_adopted(self.run_leased(words))

    def test_open_again_and_again(self):
        n = OPENS + 4
        words = " ".join([f"{OPEN} cq qp:rc move:init move:rtr,rts destroy:qps destroy:cqs destroy:pd close"] * n)
        plain = self.run_plain(words)
        for _ in cases.attempts(free=1):
            warm = self.run_warm(words)
            self.assertEqual(warm.shape(), plain.shape())
            if warm.leased >= OPENS:  # all further opens share a recipe
                break
            self.await_leases()
        self.assertGreaterEqual(warm.leased, OPENS)
        self.assertEqual(len(self.daemon.recipes(self.name)), OPENS)

    def test_differing_opens(self):
        """A test runner: the opens from the sixteenth on do different things, some the same. Each gets a recipe."""
        kinds = [f"open pd cq:depth={100 << i} destroy:cqs destroy:pd close" for i in range(4)]
        words = " ".join(["open pd destroy:pd close"] * (OPENS - 1) + kinds * 2)
        n = OPENS - 1 + 2 * len(kinds)
        for _ in cases.attempts(free=4):  # one is recorded, one diverges, the others are recorded
            warm = self.run_warm(words)
            if warm.leased == n and not warm.done(trace.KERNEL):
                break
            self.await_leases()
        self.assertEqual((warm.leased, warm.done(trace.KERNEL)), (n, []))
        self.assertEqual(len(self.daemon.recipes(self.name)), OPENS - 1 + len(kinds))

    def test_twice_to_init(self):
        """As librdmacm does, with other access flags: that is no divergence in any run."""
        words = f"{OPEN} cq qp:rc move:init,access=0 move:init,access=3 query move:rtr,rts query"
        self.compare(words)
        for _ in range(4):
            self.check_all_adopted(self.run_leased(words))
        bed.until(lambda: self.recipe()["counters"]["reports"] >= 5, "the reports")
        self.assertEqual(self.recipe()["counters"]["diverged"], 0)

    def test_query_between(self):
        """As rdma_server does: the lease makes no move that the query would show, and no run counts as diverged."""
        words = f"{OPEN} cq qp:rc move:init,access=0 query move:init,access=3 query move:rtr,rts query"
        self.compare(words)
        for _ in range(4):
            result = self.run_leased(words)
            self.assertEqual([e for e in result.events if e.kind == trace.ROLLBACK], [])
            self.assertEqual(result.done(trace.KERNEL), ["init"])
        bed.until(lambda: self.recipe()["counters"]["reports"] >= 5, "the reports")
        self.assertEqual(self.recipe()["counters"]["diverged"], 0)

    def test_once_to_init_after_all(self):
        """The program sees the queue pair as it knows it, though the lease has moved it once more."""
        words = f"{OPEN} cq qp:rc move:init,access=0 query move:rtr,rts query"
        self.compare(words, learned=words.replace("query move", "move:init,access=3 query move", 1))

    def test_varying_end(self):
        """A server serves many, then few: it is never recorded again, and most of the end is prepared no more."""
        self.learn(f"{OPEN} {' '.join([CONNECTION] * 6)}")
        steps = self.recipe()["steps"]
        for i in range(RUNS):
            few = [CONNECTION] * (1 + i % 2)
            self.check_all_adopted(self.run_leased(f"{OPEN} {' '.join(few)}"))
        bed.until(lambda: self.recipe()["steps"] < steps, "the shorter recipe")
        self.check_all_adopted(self.run_leased(f"{OPEN} {CONNECTION}"))

    def test_many(self):
        """A program that creates a queue pair for each of many clients does not get all of them in advance."""
        n = OBJECTS + 10
        words = f"{OPEN} cq {' '.join(['qp:rc move:init move:rtr,rts'] * n)}"
        warm = self.compare(words)
        self.assertLessEqual(warm.done(trace.ADOPTED).count("create_qp"), 1 + OBJECTS)
        self.assertGreater(warm.done(trace.ADOPTED).count("create_qp"), OBJECTS // 2)
        self.assertEqual(len(self.daemon.recipes(self.name)), 1)

    def test_more_than_recorded(self):
        """What goes beyond the recipe is counted, but the program is not recorded in its next run for it."""
        argv = f"{OPEN} {CONNECTION}"
        self.learn(argv + " exit")
        for i in range(3):
            result = self.run_leased(f"{argv} {CONNECTION} exit")
            self.assertEqual(result.done(trace.KERNEL), ["create_comp_channel", "create_cq", "create_qp", "init"])
            bed.until(lambda i=i: self.recipe()["counters"]["reports"] > i, "the report")
        self.assertGreaterEqual(self.recipe()["counters"]["diverged"], 3)


if __name__ == "__main__":
    bed.main()
