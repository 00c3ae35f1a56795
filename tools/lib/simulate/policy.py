# SPDX-License-Identifier: BSD-2-Clause
"""Which edges get pairs, and how many. Pure: the time is passed in."""

import collections
import dataclasses

from .demand import Demand

SECOND = 1e6
UNLIMITED = 1 << 30


@dataclasses.dataclass(frozen=True)
class Policy:
    """What is 0 or unlimited does not decide anything."""

    name: str
    per_edge: int = 0  # pairs at most; 0: no pairs at all
    idle: float = 30 * SECOND  # an edge that was not used for so long has no pairs
    uses: int = 2  # before the first pair
    window: int = 0  # of so many last connections of the slot,
    elsewhere: int = 0  # so many at most went elsewhere
    per_node: int = UNLIMITED  # pairs at most that have an end on the node
    guess_rate: float = float("inf")  # connections a second of a server that must guess pairs, at most


NO_PAIRS = Policy("no pairs")
RULE = Policy("rule", per_edge=16, idle=60 * SECOND, window=4, elsewhere=1, per_node=1024, guess_rate=100)


class Edge:
    """A queue pair of a program that connected to a server process: its uses, and its pairs."""

    __slots__ = ("demand", "destination", "interval", "last", "pairs", "preparing", "uses", "watched")

    def __init__(self, destination, policy, burst):
        self.destination = destination
        self.uses = 0
        self.last = 0.0
        self.interval = float("inf")
        self.demand = Demand(policy.idle, burst)
        self.pairs = []
        self.preparing = 0
        self.watched = False

    def use(self, now):
        if self.uses:
            self.interval = now - self.last
        self.uses += 1
        self.last = now
        self.demand.claim(now)


class Slot:
    """One queue pair of a recipe: where it was connected to."""

    __slots__ = ("edges", "latest", "policy", "recent")

    def __init__(self, policy):
        self.policy = policy
        self.edges = {}
        self.latest = None
        self.recent = collections.deque(maxlen=policy.window or 1)

    def note(self, destination, now, burst):
        """The program connected the queue pair to this server. Returns the edge."""
        edge = self.edges.get(destination)
        if not edge:
            edge = self.edges[destination] = Edge(destination, self.policy, burst)
        edge.use(now)
        self.recent.append(destination)
        self.latest = edge
        return edge

    def is_likely(self, edge):
        """Whether the next connection can be expected to go there."""
        policy = self.policy
        return not policy.window or len(self.recent) - self.recent.count(edge.destination) <= policy.elsewhere

    def wanted(self, edge, now):
        """How many pairs the edge should have, whatever the nodes have room for."""
        policy = self.policy
        if edge.uses < policy.uses or edge.interval > policy.idle or now - edge.last >= policy.idle:
            return 0
        return min(edge.demand.target(now), policy.per_edge) if self.is_likely(edge) else 0

    def candidates(self):
        """The edges that may get pairs: those of the last connections, the latest first."""
        return [self.edges[destination] for destination in dict.fromkeys(reversed(self.recent))]

    def is_dropped(self, edge, now):
        """Whether the edge should lose its pairs. One that is only not likely enough for more keeps what it has: giving
        back a pair costs more than a miss does."""
        policy = self.policy
        return now - edge.last >= policy.idle or bool(policy.window and edge.destination not in self.recent)

    def choose(self):
        """The edge whose pair the next program gets: that of the last connection, if it has one."""
        if self.latest and self.latest.pairs:
            return self.latest
        return next((edge for edge in self.edges.values() if edge.pairs), None)
