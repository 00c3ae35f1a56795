# SPDX-License-Identifier: BSD-2-Clause
"""Pairs: prepared, claimed, dropped. In the order of events that the design prescribes."""

ACCURACY = 1.0  # us: sums of times are rounded


class Pair:
    __slots__ = ("edge", "pool", "server")

    def __init__(self, pool, edge, server):
        self.pool, self.edge, self.server = pool, edge, server


class Pairs:
    def __init__(self, cluster):
        self.cluster = cluster
        self.env = cluster.env
        self.tally = cluster.tally
        self.policy = cluster.policy

    def claim(self, pool):
        """A program takes a lease: a pair or None for each of its slots. The servers are told."""
        held = []
        for slot in pool.slots:
            edge = slot.choose()
            pair = edge.pairs.pop() if edge else None
            if pair:
                self._count(pair, -1)
                self._message(pair)
                pair.server.outstanding.append(pair)
                self.tally.count["claimed"] += 1
            held.append(pair)
        return held

    def given(self, server, pair):
        """The pair whose end the server gives to a connection whose client has `pair`, or None. A request names the
        pair; without a name, the server takes the only one that was claimed and not used yet."""
        if self.cluster.named:
            given = pair if pair in server.outstanding else None
        else:
            given = server.outstanding[0] if len(server.outstanding) == 1 else None
        if given:
            server.outstanding.remove(given)
        return given

    def connected(self, pool, slot_number, server, pair, given):
        """The client knows its peer: learns, and gives back the other end of a pair that did not serve."""
        self.tally.count["hits"] += pair is not None and pair is given
        self.tally.count["misses"] += pair is not None and pair is not given
        if pair and pair is not given and pair in pair.server.outstanding:
            pair.server.outstanding.remove(pair)
            self._put_back_server(pair)
        pool.slots[slot_number].note(server.name, self.env.now, self.cluster.costs.burst)
        if self.policy.per_edge:
            pool.node.pause.call(lambda: self.look(pool))

    def look(self, pool):
        """The programs pause, or a lease is ready."""
        if self.policy.per_edge:
            for slot in pool.slots:
                self._look_at(pool, slot)

    def _look_at(self, pool, slot):
        """Prepares what is wanted, and drops what is not."""
        for edge in list(slot.edges.values()):
            if edge.pairs and slot.is_dropped(edge, self.env.now):
                self._drop(edge)
        for edge in slot.candidates():
            self._prepare_wanted(pool, slot, edge)

    def _prepare_wanted(self, pool, slot, edge):
        wanted = slot.wanted(edge, self.env.now) if edge.destination is not None else 0
        waiting = sum(len(each.pairs) + each.preparing for each in slot.edges.values())
        while len(edge.pairs) + edge.preparing < wanted and waiting < pool.ready:
            pair = Pair(pool, edge, self.cluster.servers[edge.destination])
            if not self._has_room(pair):
                self.tally.count["refused"] += 1
                return
            waiting += 1
            edge.preparing += 1
            self._count(pair, 1)
            self.env.process(self._prepare(slot, pair, wanted))

    def _has_room(self, pair):
        policy = self.policy
        if not self.cluster.named and pair.server.rate.last_second(self.env.now) > policy.guess_rate:
            return False
        return max(pair.pool.node.pairs, pair.server.node.pairs) < policy.per_node

    def _prepare(self, slot, pair, wanted):
        """The server's end, then the client's. Each is done by its own process' threads."""
        times, server = self.cluster.times, pair.server
        self.tally.count["prepared"] += 1
        self._message(pair)
        yield self.env.timeout(self.cluster.costs.hop)
        spare = server.take()
        yield self._done(server.maker, times.connect if spare else times.create + times.connect)
        server.refill()
        self._message(pair)
        yield self.env.timeout(self.cluster.costs.hop)
        yield self._done(pair.pool.node.builders, times.connect)
        edge = pair.edge
        edge.preparing -= 1
        edge.pairs.append(pair)
        if len(edge.pairs) >= wanted:
            edge.demand.filled()
        if not edge.watched:
            edge.watched = True
            self.env.process(self._watch(edge))

    def _done(self, workers, times):
        event = self.env.event()
        workers.submit(times, "pair", event.succeed)
        return event

    def _watch(self, edge):
        """Drops the pairs of an edge that is not used any more."""
        while edge.pairs or edge.preparing:
            left = edge.last + self.policy.idle - self.env.now
            if left < ACCURACY:
                self._drop(edge)
                break
            yield self.env.timeout(left)
        edge.watched = False

    def _drop(self, edge):
        for pair in edge.pairs:
            self.tally.count["expired"] += 1
            self._count(pair, -1)
            self._message(pair)
            pair.pool.node.builders.submit(self.cluster.times.put_back, "pair")
            self._put_back_server(pair)
        edge.pairs = []

    def _put_back_server(self, pair):
        """The server's end becomes a spare again."""
        def done():
            pair.server.spares += 1

        pair.server.maker.submit(self.cluster.times.put_back, "pair", done)

    def _message(self, pair):
        self.cluster.peers.send(pair.pool.number, pair.server.number)

    def _count(self, pair, change):
        for node in {pair.pool.node, pair.server.node}:
            node.pairs += change
            self.tally.pairs_of(node)
        self.tally.pairs(change)
