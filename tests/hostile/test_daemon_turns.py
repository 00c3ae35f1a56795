#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""One user's work, however dear and however much of it, does not take another's turn.

What counts is how many leases the victim gets in a steady rhythm, beside the attack and alone. A turn is lost if that is
so in each of three tries.
"""

from support import attacks, bed, cases, hostile

LEASES = 20
RHYTHM_S = 0.1
FAIR = 0.5  # of the leases alone, at least
TRIES = 3  # a machine that was quiet a moment ago may be busy by now


class Turns(hostile.Case):
    daemon_options = ("--max-memory-per-user", "64", "--max-memory", "256", "--refill-delay", "20")

    def alone(self, rhythm_s):
        meanwhile = cases.Busyness()
        got, _ = self.victim_leases(LEASES, rhythm_s)
        if got <= LEASES // 2 and meanwhile.was_busy():
            self.skipTest(f"{got} of {LEASES} leases alone: the machine is too busy to tell")
        self.assertGreater(got, LEASES // 2)
        return got

    def beside(self, kind, steps, rhythm_s):
        with self.going(kind) as going:
            going.await_steps(steps)
            before = going.steps
            got, waits = self.victim_leases(LEASES, rhythm_s)
            during = going.steps - before
        print(f"{kind.__name__}: {got} leases beside {during} steps of the attack; the longest wait "
              f"{max(waits) * 1000:.0f} ms", flush=True)
        return got

    def is_fair(self, kind, steps, rhythm_s):
        self.daemon.await_ready(hostile.VICTIMS.decode())
        alone = self.alone(rhythm_s)
        print(f"{alone} leases alone", flush=True)
        return self.beside(kind, steps, rhythm_s) >= FAIR * alone

    def check(self, kind, steps, rhythm_s=RHYTHM_S):
        self.victim_learns()
        self.assertTrue(any(self.is_fair(kind, steps, rhythm_s) for _ in range(TRIES)))

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
        rhythm_s = hostile.SHARED_RHYTHM_S if bed.SANITIZED else RHYTHM_S
        self.check(attacks.ManyUsers, 10 * len(attacks.ManyUsers.uids), rhythm_s)


if __name__ == "__main__":
    bed.main()
