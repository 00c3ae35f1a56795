# SPDX-License-Identifier: BSD-2-Clause
"""The nodes, the servers, and the programs that start on them."""

import simpy

from .adapter import Adapter, Pause, Workers
from .costs import CONNECT, END_CONTEXT, END_QP, ONE_MORE_QP, OPEN_TO_INIT, PUT_BACK
from .demand import Demand, Rate
from .pairs import Pairs
from .peers import Peers
from .policy import Slot
from .tally import Tally

PLAIN, READY = "plain", "ready"  # with plain verbs; with leases and spares


class Node:
    __slots__ = ("adapter", "builders", "pairs", "pause")

    def __init__(self, env, costs, spent):
        self.adapter = Adapter(env, spent)
        self.builders = Workers(self.adapter, costs.builders)
        self.pause = Pause(env, costs)
        self.pairs = 0  # with an end here


class Pool:
    """The leases of one program on one node. It starts with one: the program has run here before."""

    __slots__ = ("build", "building", "costs", "demand", "env", "node", "number", "ready", "slots")

    def __init__(self, cluster, number, slots):
        costs = cluster.costs
        self.env, self.costs, self.number = cluster.env, costs, number
        self.node = cluster.node(number)
        self.ready, self.building = 1, 0
        self.demand = Demand(costs.lease_idle, costs.burst)
        self.demand.filled()
        self.slots = [Slot(cluster.policy) for _ in range(slots)]
        self.build = cluster.open_times(slots)

    def take(self):
        """Whether there was a lease."""
        self.node.pause.request()
        self.demand.claim(self.env.now)
        if not self.ready:
            return False
        self.ready -= 1
        return True

    def refill(self, then):
        """Makes what is wanted when the programs pause. Calls then(pool) whenever pairs can be looked at."""
        self.node.pause.call(lambda: self._refill(then))

    def _refill(self, then):
        wanted = min(self.demand.target(self.env.now), self.costs.leases_per_recipe)

        def done():
            self.building -= 1
            self.ready += 1
            if self.ready >= wanted:
                self.demand.filled()
            then(self)

        while self.ready + self.building < wanted:
            self.building += 1
            self.node.builders.submit(self.build, "lease", done)


class Server:
    """A process that accepts connections. One without a name has just started: it has no spares, and no edges."""

    __slots__ = (
        *("costs", "create", "demand", "env", "making", "maker", "name", "node", "number", "outstanding", "rate"),
        "spares",
    )

    def __init__(self, cluster, number, name, spares):
        costs = cluster.costs
        self.env, self.costs, self.number, self.name = cluster.env, costs, number, name
        self.node = cluster.node(number)
        self.maker = Workers(self.node.adapter, costs.makers)
        self.create = cluster.times.create
        self.spares = spares
        self.making = 0
        self.demand = Demand(costs.spares_idle, costs.burst)
        self.rate = Rate()  # of connections
        self.outstanding = []  # pairs whose lease a program has, and that no connection has used yet

    def take(self):
        self.demand.claim(self.env.now)
        if not self.spares:
            return False
        self.spares -= 1
        return True

    def refill(self):
        if self.name is None:
            return
        costs = self.costs
        wanted = min(max(self.demand.target(self.env.now), costs.spares_at_least), costs.spares_at_most)

        def done():
            self.making -= 1
            self.spares += 1
            if self.spares >= wanted:
                self.demand.filled()

        while self.spares + self.making < wanted:
            self.making += 1
            self.maker.submit(self.create, "spare", done)


class Times:
    """Lists of firmware times."""

    def __init__(self, costs):
        self.open = costs.times(OPEN_TO_INIT)
        self.create = costs.times(ONE_MORE_QP)
        self.connect = costs.times(CONNECT)
        self.put_back = costs.times(PUT_BACK)
        self.end_qp = costs.times(END_QP)
        self.end_context = costs.times(END_CONTEXT)


class Cluster:
    """One simulation. `named`: a connection request names its pair, as with rdma_cm; otherwise a server guesses."""

    def __init__(self, costs, policy, mode=READY, named=True):
        self.env = simpy.Environment()
        self.costs, self.policy, self.mode, self.named = costs, policy, mode, named
        self.times = Times(costs)
        self.tally = Tally(self.env)
        self.peers = Peers(self.env, costs)
        self.nodes, self.pools, self.servers = {}, {}, {}
        self.pairs = Pairs(self)

    def node(self, number):
        if number not in self.nodes:
            self.nodes[number] = Node(self.env, self.costs, self.tally.spent)
        return self.nodes[number]

    def open_times(self, slots):
        return self.times.open + self.times.create * (slots - 1)

    def pool(self, number, program, slots):
        key = (number, program)
        if key not in self.pools:
            self.pools[key] = Pool(self, number, slots)
        return self.pools[key]

    def server(self, number, name):
        if name is None:
            return Server(self, number, None, 0)
        if name not in self.servers:
            self.servers[name] = Server(self, number, name, self.costs.spares_at_least)
        return self.servers[name]

    def run(self, starts, warm_up, seconds):
        """Starts the programs; what happens after the warm-up counts. Returns the tally."""
        self.env.process(self._start_all(starts))
        self.env.run(until=warm_up * 1e6)
        self.tally.reset(self.peers)
        self.env.run(until=(warm_up + seconds) * 1e6)
        self.tally.finish(self.peers)
        return self.tally

    def _start_all(self, starts):
        for start in starts:
            yield self.env.timeout(max(0.0, start.time - self.env.now))
            self.env.process(self._program(start))

    def _program(self, start):
        began = self.env.now
        slots = len(start.servers)
        pool = self.pool(start.node, start.program, slots)
        leased = self.mode == READY and pool.take()
        held = self.pairs.claim(pool) if leased else [None] * slots
        if self.mode == READY:
            pool.refill(self.pairs.look)
        yield from self._open(pool, leased)
        servers = [self.server(*each) for each in start.servers]
        if slots == 1:
            yield from self._connect(pool, 0, servers[0], held[0])
        else:
            yield simpy.AllOf(self.env, [
                self.env.process(self._connect(pool, slot, server, held[slot])) for slot, server in enumerate(servers)
            ])
        self.tally.first_byte(began)
        self.env.process(self._end(pool, servers, start.life))

    def _open(self, pool, leased):
        if leased:
            yield self.env.timeout(self.costs.software_lease)
            return
        self.tally.count["without_lease"] += self.mode == READY
        yield self.env.timeout(self.costs.software_plain + self.costs.firmware.get("proc_cpuinfo", 0))
        yield from self._issue(pool.node, pool.build, "program")

    def _issue(self, node, times, purpose):
        for time in times:
            yield node.adapter.execute(time, purpose)

    def _connect(self, pool, slot, server, pair):
        """In the order of rdma_connect(3) and rdma_accept(3): the server's queue pair is in RTS when it answers."""
        hop = self.env.timeout
        costs, times = self.costs, self.times
        self.tally.count["connections"] += 1
        yield hop(costs.hop)
        server.rate.count(self.env.now)
        given = self.pairs.given(server, pair)
        if given is None:
            if not (self.mode == READY and server.take()):
                yield from self._issue(server.node, times.create, "program")
            if self.mode == READY:
                server.refill()
        if given is None or given is not pair:
            yield from self._mend(server.node, given)
        yield hop(costs.hop)
        if given is None or given is not pair:
            yield from self._mend(pool.node, pair)
        self.pairs.connected(pool, slot, server, pair, given)
        yield hop(costs.read)

    def _mend(self, node, pair):
        """Connects a queue pair, which another connection was prepared on if there is a pair."""
        if pair:
            yield from self._issue(node, self.times.put_back, "put back")
        yield from self._issue(node, self.times.connect, "program")

    def _end(self, pool, servers, life):
        yield self.env.timeout(life)
        for server in servers:
            yield from self._issue(pool.node, self.times.end_qp, "end")
            yield from self._issue(server.node, self.times.end_qp, "end")
        yield from self._issue(pool.node, self.times.end_context, "end")
