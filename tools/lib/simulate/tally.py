# SPDX-License-Identifier: BSD-2-Clause
"""What happened in a simulation, after its warm-up."""

import array
import collections


class Tally:
    def __init__(self, env):
        self.env = env
        self.spent = collections.Counter()  # {purpose: us of firmware}
        self.count = collections.Counter()
        self.times = array.array("d")  # to the first byte
        self.n_pairs = 0
        self.most_pairs = 0  # of a node
        self._area = 0.0  # pairs x us
        self._changed = 0.0
        self._began = 0.0
        self._traffic = (0.0, 0, 0)
        self.traffic = {}

    def first_byte(self, began):
        self.times.append(self.env.now - began)

    def pairs(self, change):
        now = self.env.now
        self._area += self.n_pairs * (now - self._changed)
        self._changed = now
        self.n_pairs += change

    def pairs_of(self, node):
        self.most_pairs = max(self.most_pairs, node.pairs)

    def reset(self, peers):
        """Forgets the warm-up."""
        self.pairs(0)
        self._area = 0.0
        self._began = self.env.now
        self.spent.clear()
        self.count.clear()
        del self.times[:]
        self.most_pairs = 0
        self._traffic = (peers.bytes, peers.handshakes, peers.messages)

    def finish(self, peers):
        self.pairs(0)
        names = ("bytes", "handshakes", "messages")
        ends = (peers.bytes, peers.handshakes, peers.messages)
        self.traffic = {name: end - at for name, at, end in zip(names, self._traffic, ends)}
        self.traffic["connections"] = len(peers.last)
        self.traffic["most_connections"] = peers.most

    @property
    def seconds(self):
        return (self.env.now - self._began) / 1e6

    @property
    def mean_pairs(self):
        return self._area / (self.env.now - self._began)

    def mean_time(self):
        return sum(self.times) / len(self.times) if self.times else 0.0

    def percentiles(self, *wanted):
        """Nearest rank."""
        ordered = sorted(self.times)
        return [ordered[max(0, -(-len(ordered) * each // 100) - 1)] if ordered else 0.0 for each in wanted]

    def firmware(self):
        return sum(self.spent.values())
