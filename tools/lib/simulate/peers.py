# SPDX-License-Identifier: BSD-2-Clause
"""Connections between daemons: made on demand, closed when idle."""

import collections


class Peers:
    def __init__(self, env, costs):
        self.env = env
        self.costs = costs
        self.last = {}  # {(node, node): time of the last message}
        self.count = collections.Counter()  # connections of each node
        self.most = 0  # of any node
        self.bytes = 0.0
        self.handshakes = 0
        self.messages = 0

    def send(self, one, other):
        """One message; a node has no need of the network to talk to itself."""
        if one == other:
            return
        key = (one, other) if one < other else (other, one)
        if key not in self.last:
            self._open(key)
        self.last[key] = self.env.now
        self.messages += 1
        self.bytes += self._message_bytes()

    def _message_bytes(self):
        return self.costs.message_bytes + self.costs.tls_record_bytes + self.costs.packet_bytes

    def _open(self, key):
        self.handshakes += 1
        self.bytes += self.costs.tls_handshake_bytes
        for node in key:
            self.count[node] += 1
            self.most = max(self.most, self.count[node])
        self.env.process(self._live(key))

    def _live(self, key):
        """Sends keep-alive messages, and closes the connection when it has been idle."""
        keepalive = 2 * self._message_bytes()  # and its answer
        while True:
            yield self.env.timeout(self.costs.keepalive)
            if self.env.now - self.last[key] >= self.costs.peer_idle:
                break
            self.bytes += keepalive
        del self.last[key]
        for node in key:
            self.count[node] -= 1
