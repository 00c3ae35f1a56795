#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""When the daemon is told what a program did, and how a lease served it: not on the way to RTS, and yet never lost."""

import errno

from support import bed, cases, trace

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

    def test_refused(self):
        """What the kernel refuses each time: a lease can hold the first refusal, but not the second, of a vector beyond
        all bounds. Neither diverges, and the program is not recorded again."""
        words = "open pd cq:vector=1000 cq:vector=5000 cq qp:rc move:init exit"
        self.compare(words, failures=2)
        for _ in range(3):
            result = self.run_leased(words)
            self.assertEqual(result.done(trace.KERNEL), [])
            self.assertEqual([e.error for e in result.adopted].count(errno.EINVAL), 1)
        bed.until(lambda: self.counters()["reports"] >= 4, "the reports")
        after = self.counters()
        self.assertEqual((after["diverged"], after["warm"], after["records"]), (0, after["reports"], 1))

    def check_vectors(self, cq, kernel, env=None):
        """A program that asks for another completion vector than when it was recorded."""
        words = f"open pd channel {cq}=%d qp:rc move:init exit"
        name = f"{self.name}{len(kernel)}"
        self.learn(words % 1, name=name)
        for vector in (2, 0, 3):
            result = self.run_leased(words % vector, name=name, env=env)
            self.assertEqual((result.failures, result.done(trace.KERNEL)), ([], kernel))
        beyond = self.run_leased(words % 1000, name=name, env=env)
        self.assertEqual(beyond.lines, self.run_plain(words % 1000).lines)
        self.assertTrue(beyond.failures)

    def test_vector_without_a_channel(self):
        self.check_vectors("cq:vector", [])

    def test_vector_with_a_channel(self):
        self.check_vectors("cq:channel,vector", ["create_cq", "create_qp", "init"])
        self.check_vectors("cq:channel,vector", [], env={"WARMVERBS_ANY_VECTOR": "1"})

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
