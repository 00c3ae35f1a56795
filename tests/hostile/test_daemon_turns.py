#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One user's work, however dear and however much of it, does not take another's turn.

What counts is how many leases the victim gets in a steady rhythm, beside the attack and alone.
"""

from support import attacks, bed, cases, hostile

LEASES = 20
RHYTHM_S = 0.1
FAIR = 0.5  # of the leases alone, at least


class Turns(hostile.Case):
    daemon_options = ("--max-memory-per-user", "64", "--max-memory", "256", "--refill-delay", "20")

    def check(self, kind, steps, rhythm_s=RHYTHM_S):
        self.victim_learns()
        meanwhile = cases.Busyness()
        alone, _ = self.victim_leases(LEASES, rhythm_s)
        if alone <= LEASES // 2 and meanwhile.was_busy():
            self.skipTest(f"{alone} of {LEASES} leases alone: the machine is too busy to tell")
        self.assertGreater(alone, LEASES // 2)
        with self.going(kind) as going:
            going.await_steps(steps)
            before = going.steps
            beside, waits = self.victim_leases(LEASES, rhythm_s)
            during = going.steps - before
        print(f"{kind.__name__}: {alone} leases alone, {beside} beside {during} steps of the attack; the longest wait "
              f"{max(waits) * 1000:.0f} ms", flush=True)
        self.assertGreaterEqual(beside, FAIR * alone)

    def test_drain(self):
        self.check(attacks.Drain, 30)

    def test_status_storm(self):
        self.check(attacks.StatusStorm, 1)

    def test_pool_storm(self):
        self.check(attacks.PoolStorm, 1)

    def test_flood(self):
        self.check(attacks.Flood, 3)

    def test_connections(self):
        self.check(attacks.Connections, 600)

    def test_silent(self):
        self.check(attacks.Silent, 600)

    def test_malformed(self):
        self.check(attacks.Malformed, 3)

    def test_recorder(self):
        self.check(attacks.Recorder, 3)

    def test_many_users(self):
        """Who is one of so many has leases in a rhythm that a fair share of the builders' time is enough for."""
        self.check(attacks.ManyUsers, 10 * len(attacks.ManyUsers.uids), rhythm_s=hostile.SHARED_RHYTHM_S if bed.SANITIZED else RHYTHM_S)


if __name__ == "__main__":
    bed.main()
