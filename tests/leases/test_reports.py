#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""When the daemon is told what a program did, and how a lease served it: not on the way to RTS, and yet never lost."""

from support import bed, cases

CONNECT = "open pd cq qp:rc move:init move:rtr,rts"


class Reports(bed.Case):
    def counters(self):
        recipe, = self.daemon.recipes(self.name)
        return recipe["counters"]

    def start_leased(self, words):
        """A program that has a lease and waits at its "at:connected", and the counters before it."""
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            before = self.counters()
            program = self.start(words, True)
            program.reach("connected")
            if self.counters()["hits"] > before["hits"]:
                return program, before
            program.finish()
        raise AssertionError(f"no lease in {cases.PATIENCE} runs or more")

    def await_report(self, before):
        bed.until(lambda: self.counters()["reports"] > before["reports"], "the report")
        return self.counters()

    def test_comes_after_rts(self):
        """With the first command after RTS that is no query."""
        words = CONNECT + " at:connected query at:queried destroy:qps at:gone"
        self.learn(words)
        program, before = self.start_leased(words)
        self.assertEqual(self.counters()["reports"], before["reports"])
        program.go_on()
        program.reach("queried")
        self.assertEqual(self.counters()["reports"], before["reports"])
        program.go_on()
        program.reach("gone")
        after = self.await_report(before)
        self.assertEqual(after["diverged"], before["diverged"])
        self.assertEqual(program.finish().status, 0)
        self.assertEqual(self.counters()["reports"], before["reports"] + 1)

    def test_divergence_of_a_killed_program(self):
        """It changes what the next run gets, so it does not wait for a command that may never come."""
        self.learn(CONNECT)
        program, before = self.start_leased(CONNECT.replace("cq", "cq:depth=1000") + " at:connected")
        program.process.kill()
        self.assertGreater(self.await_report(before)["diverged"], before["diverged"])

    def test_recording_of_a_killed_program(self):
        program = self.start_answered(CONNECT + " at:connected", "connected")
        program.process.kill()
        bed.until(lambda: self.daemon.recipes(self.name), "the recipe")

    def test_exit_without_destructors(self):
        """_exit(2), of a program that never connects a queue pair and closes nothing."""
        words = "open pd cq qp:rc move:init exit"
        self.learn(words)
        before = self.counters()
        self.run_leased(words)
        self.await_report(before)


if __name__ == "__main__":
    bed.main()
