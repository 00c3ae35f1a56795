#!/usr/bin/env python3
"""Children of a program with a lease may end as they like."""

import bed

END = "destroy:qps destroy:srq destroy:cqs destroy:pd close"
WORK = "move:rtr,rts,all traffic"


class Forks(bed.Case):
    def check(self, how):
        """Between any two steps that are adopted, a child ends."""
        steps = "open pd cq srq qp:rc,srq qp:ud move:init,all".split()
        words = f" fork:{how} ".join(steps) + f" fork:{how} {WORK} fork:{how} {END}"
        warm = self.compare(words, f"{' '.join(steps)} {WORK} {END}")
        self.assertEqual(warm.done(bed.trace.KERNEL), [])

    def test_child_ends_at_once(self):
        self.check("now")

    def test_child_ends_in_order(self):
        """With what runs at the exit of a program: the parent's report must not be sent."""
        self.check("exit")

    def test_child_crashes(self):
        self.check("crash")

    def test_fork_while_recorded(self):
        """The recording is the parent's."""
        words = f"open fork:exit pd cq fork:crash srq qp:rc,srq fork:exit move:init,all {WORK} {END}"
        warm = self.compare(words)
        self.assertEqual(warm.done(bed.trace.KERNEL), [])

    def test_child_does_not_share_the_lease(self):
        """Both would have the same object: what is left of it is the parent's."""
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


if __name__ == "__main__":
    bed.main()
