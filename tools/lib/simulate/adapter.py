# SPDX-License-Identifier: BSD-2-Clause
"""The firmware of an adapter, and threads that issue commands to it beside programs."""

import collections

ACCURACY = 1.0  # us: sums of times are rounded


class Adapter:
    """Executes one command at a time, in the order in which they are issued. The driver of Linux lets several be
    outstanding; how many an adapter executes at once is not published. One at a time makes preparation expensive
    rather than cheap."""

    def __init__(self, env, spent):
        self.env = env
        self.spent = spent  # {purpose: us}, of all adapters
        self.free = 0.0

    def execute(self, time, purpose):
        """An event: commands that take so long in all are done."""
        now = self.env.now
        self.free = max(self.free, now) + time
        self.spent[purpose] += time
        return self.env.timeout(self.free - now)


class Workers:
    """Threads that execute jobs. A job is a list of times of commands, each issued when the one before it is done."""

    def __init__(self, adapter, threads):
        self.adapter = adapter
        self.idle = threads
        self.waiting = collections.deque()

    def submit(self, times, purpose, then=None):
        """Calls then() when all commands are done."""
        if not self.idle:
            self.waiting.append((times, purpose, then))
            return
        self.idle -= 1
        self.adapter.env.process(self._work(times, purpose, then))

    def _work(self, times, purpose, then):
        while True:
            for time in times:
                yield self.adapter.execute(time, purpose)
            if then:
                then()
            if not self.waiting:
                break
            times, purpose, then = self.waiting.popleft()
        self.idle += 1


class Pause:
    """Tells when the programs of a node pause: the daemon works for the next ones then, and not long after in any
    case."""

    def __init__(self, env, costs):
        self.env = env
        self.delay = costs.refill_delay
        self.longest = costs.postponed * costs.refill_delay
        self.asked = 0.0
        self.waiting = []

    def request(self):
        """A program requested a lease."""
        self.asked = self.env.now

    def call(self, function):
        """Calls it when the programs pause."""
        if not self.waiting:
            self.env.process(self._wait())
        self.waiting.append(function)

    def _wait(self):
        latest = self.env.now + self.longest
        while (left := min(self.asked + self.delay, latest) - self.env.now) > ACCURACY:
            yield self.env.timeout(left)
        waiting, self.waiting = self.waiting, []
        for function in waiting:
            function()
