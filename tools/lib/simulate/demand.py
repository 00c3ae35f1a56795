# SPDX-License-Identifier: BSD-2-Clause
"""How many should wait: the demand of src/daemon/pool/policy.c, for pools, spares and pairs alike."""


class Demand:
    """As many as were claimed between two moments at which all were there; halved every idle time, at least one."""

    __slots__ = ("burst", "burst_limit", "full", "idle", "level", "reached", "since")

    def __init__(self, idle, burst_limit):
        self.idle = idle
        self.burst_limit = burst_limit
        self.level = 1
        self.burst = 0
        self.full = False
        self.reached = self.since = 0.0

    def claim(self, now):
        if self.full or not self.burst or now - self.since > self.burst_limit:
            self.burst = 0
            self.since = now
            self.full = False
        self.burst += 1
        if self.burst >= self.target(now):
            self.level = self.burst
            self.reached = now

    def filled(self):
        """All are there."""
        self.full = True

    def target(self, now):
        return max(1, self.level >> min(31, int((now - self.reached) / self.idle)))


class Rate:
    """Events in the last whole second."""

    __slots__ = ("before", "now", "second")

    def __init__(self):
        self.second = 0
        self.now = self.before = 0

    def count(self, now):
        self._turn(now)
        self.now += 1

    def last_second(self, now):
        self._turn(now)
        return self.before

    def _turn(self, now):
        second = int(now / 1e6)
        if second != self.second:
            self.before = self.now if second == self.second + 1 else 0
            self.now = 0
            self.second = second
