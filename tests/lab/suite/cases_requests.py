# SPDX-License-Identifier: BSD-2-Clause
"""A server that clients reach by librdmacm: each request names the client's queue pair, so that the server takes the
other end of its pair, however many connect at once."""

import ipaddress
import pathlib
import subprocess
import time

from support import ports, trace
from support.cases import attempts

from . import cluster, machines, places, resources
from .lab import cm_listening
from .report import Case, Failure, require, require_equal

TOPIC = "requests"
KILLED_S = 0.5  # of a client: about as long as it runs
ROUNDS = 12  # of clients, until there are pairs
# Clients of a round. A server that none reaches for 5 s has no spares (WV_STOCK_IDLE_MS), so nothing is learned of its
# clients. On a slow machine, clients that start one after the other are further apart than that.
TOGETHER = 4
END_S = 20  # in which the daemon hears of the end of a program
PAIRS_S = 2  # in which the daemon makes pairs, if it makes any


class Server:
    """Of @at_once requests that wait together it takes the last one first. @sides: where the server runs, and where its
    clients do. A new Server has served @at_once clients already: for the first one, it opened the device."""

    def __init__(self, sides, at_once=1, host=None):
        self.here, self._there = sides
        self._program = self.here.build.program("requests")
        self._host = host or self.here.host
        for _ in attempts():
            self._start(at_once)
            self.serve(at_once)
            if not trace.unanswered(trace.read(self._running.trace_path)):
                return
            self.finish()
        raise Failure("the daemon answered no server in time")

    def _start(self, at_once):
        self.port = ports.free_port()
        words = [self._program, "serve", str(self.port), str(at_once)]
        self._running = self.here.start(words, warm=True, name="server")
        require(resources.until(lambda: cm_listening(self.port)(None), 20), "the server does not listen")

    def _start_client(self, number):
        words = [self._program, "connect", self._host, str(self.port), f"client {number}"]
        return self._there.start(words, warm=True, name="client")

    def serve(self, n=1):
        """Serves @n clients that start together; returns their results."""
        results = [client.wait() for client in [self._start_client(i) for i in range(n)]]
        for result in results:
            require_equal((result.status, result.out), (0, "echoed\n"), f"a client's end: {result.err}")
        return results

    def kill_after(self, seconds):
        """A client that is killed so soon."""
        client = self._start_client(0)
        time.sleep(seconds)
        client.kill()

    def finish(self):
        """Ends it; returns its result."""
        self._running.proceed()
        result = self._running.wait()
        require_equal((result.status, result.out), (0, "served\n"), f"the server's end: {result.err}")
        return result


def from_pairs(events):
    """How many queue pairs got to RTS because they were connected ahead."""
    return sum(e.kind == trace.COMMAND and e.how == trace.PAIR and e.qp_state == trace.RTS for e in events)


def pairs(lab):
    return lab.daemon.status()["pairs"]


def pairs_at_last(lab):
    """The same when the daemon has heard of the end of all programs that had one."""
    if not resources.until(lambda: not pairs(lab)["handed_out"], END_S, resources.ASKING_S):
        raise Failure(f"programs that have ended still have pairs: {pairs(lab)}")
    return pairs(lab)


def await_pairs(lab, n):
    """Whether as many pairs are ready, and no program has one."""
    def ready():
        found = pairs(lab)
        return found["ready"] >= n and not found["handed_out"]
    return resources.until(ready, PAIRS_S, resources.ASKING_S)


def connect(sides, at_once, rounds):
    """Rounds of clients; in one of them, all were connected ahead, and none was ever mistaken."""
    there = sides[1]
    server = Server(sides, at_once)
    best = used = 0
    for _ in range(rounds):
        ahead = sum(from_pairs(result.events) for result in server.serve(at_once))
        best, used = max(best, ahead), used + ahead
        if best == at_once:
            break
        await_pairs(there, at_once)
    server.finish()
    seen = pairs_at_last(there)
    require(best == at_once, f"at most {best} of {at_once} clients were connected ahead: {seen}")
    require(seen["used"] >= used, f"the server took fewer pairs than {used}: {seen}")
    # On a busy machine, a request may be faster than the news that its client has the pair.
    require(not any(n for why, n in seen["unlike"].items() if why != "other_peer"), f"they disagreed: {seen}")


def on_one_node(at_once, rounds):
    def test(lab):
        lab.start_daemon(["--pairs", "yes"])
        connect((lab, lab), at_once, rounds)
    return test


def on_two_nodes(nodes):
    connect(cluster.join(nodes), 4, ROUNDS)


def until_pairs(server, there):
    """Serves clients until there is a pair for the next one."""
    for _ in range(ROUNDS):
        server.serve(TOGETHER)
        if await_pairs(there, 1):
            return
    raise Failure(f"no pair came about: {pairs(there)}; on the server's node: {pairs(server.here)}")


def joined_with_pairs(nodes):
    """Both sides, and a server with a pair for its next client."""
    here, there = cluster.join(nodes)
    server = Server((here, there))
    until_pairs(server, there)
    return here, there, server


def while_cut_off(nodes):
    """Clients that have a pair, and clients that have none, while the daemons cannot speak to each other."""
    here, there, server = joined_with_pairs(nodes)
    with cluster.cut_off(here.port.netdev):
        for _ in range(4):
            server.serve()
    cluster.await_peer(here)
    server.finish()


def over_a_poor_network(nodes):
    """What daemons, librdmacm and programs send is late, not in order, and at times lost."""
    here, there = cluster.join(nodes)
    server = Server((here, there))
    with cluster.poor(here.port.netdev):
        until_pairs(server, there)
        for _ in range(4):
            server.serve()
    server.finish()


def with_pairs_again(server, there):
    """Clients of a node that was away are connected ahead again."""
    cluster.await_peer(there)
    until_pairs(server, there)
    ahead = [from_pairs(server.serve()[0].events) for _ in range(4) if await_pairs(there, 1)]
    require(any(ahead), f"no client was connected ahead: {pairs(there)}")
    server.finish()


def restarted_node(nodes):
    """The clients' node is started again while pairs wait: its next queue pairs have the numbers of those before."""
    here, there, server = joined_with_pairs(nodes)
    machines.reboot(there)
    for _ in range(4):
        server.serve()
    cluster.start(there, here, there.files)
    with_pairs_again(server, there)


def killed_node(nodes):
    """The clients' node loses its power while pairs wait, and is away for longer than a peer may be silent."""
    here, there, server = joined_with_pairs(nodes)
    machines.switch_off(there)
    cluster.await_no_peer(here)
    machines.reboot(there)
    cluster.start(there, here, there.files)
    with_pairs_again(server, there)


def paused_node(nodes):
    """The clients' node stands still while pairs wait, for longer than a peer may be silent."""
    here, there, server = joined_with_pairs(nodes)
    with machines.paused():
        cluster.await_no_peer(here)
    for _ in range(4):
        server.serve()
    with_pairs_again(server, there)


def killed_clients(lab):
    """Clients that are killed at any time, with a pair or without; those after them are served as ever."""
    lab.start_daemon(["--pairs", "yes"])
    server = Server((lab, lab))
    until_pairs(server, lab)
    for i in range(20):
        server.kill_after(KILLED_S * i / 20)
        server.serve()
    server.finish()


def own_pds(lab):
    """librdmacm has a PD of its own while it has connections, so a server's clients that come one after the other need
    one each. Those that its recipe has not are no divergence."""
    lab.start_daemon()
    Server((lab, lab)).finish()
    for _ in attempts():
        server = Server((lab, lab))
        for _ in range(4):
            server.serve()
        events = server.finish().events
        if trace.opens(events, trace.ADOPTED):
            break
    own = [e for e in events if e.makes == "alloc_pd" and e.how == trace.KERNEL]
    require(own, "librdmacm allocated no PD but those of the recipe")
    require_equal({e.why for e in own}, {"pass"}, "why the kernel was asked for a PD")


ADDRESS = "10.79.0.1"


def change_address(what):
    subprocess.run(["ip", "address", what, f"{ADDRESS}/24", "dev", places.netdev()], check=True)


def gid_index():
    """Where the device has the GID of ADDRESS; None: nowhere."""
    gid = ipaddress.IPv6Address(f"::ffff:{ADDRESS}").exploded
    for path in pathlib.Path(f"/sys/class/infiniband/{places.DEVICE}/ports/1/gids").iterdir():
        if path.read_text().strip() == gid:
            return int(path.name)
    return None


def address_returns(lab):
    """A queue pair in RTS keeps its GID in use. An address that is removed while pairs wait, and added again, has the
    same GID as on a node without pairs."""
    change_address("add")
    try:
        index = resources.until(gid_index, PAIRS_S)
        lab.start_daemon(["--pairs", "yes"])
        server = Server((lab, lab), host=ADDRESS)
        until_pairs(server, lab)
        change_address("delete")
        require(resources.until(lambda: not pairs(lab)["ready"], PAIRS_S), f"a pair is left: {pairs(lab)}")
        change_address("add")
        require_equal(resources.until(gid_index, PAIRS_S), index, "index of the GID")
        server.finish()
    finally:
        change_address("delete")


def cases():
    yield Case(TOPIC, "one client after the other", on_one_node(1, 16))
    yield Case(TOPIC, "four at once, taken in another order", on_one_node(4, ROUNDS))
    if not machines.are_here():
        yield Case(TOPIC, "four at once, from another node", on_two_nodes, nodes=2)
        yield Case(TOPIC, "while the daemons cannot speak to each other", while_cut_off, nodes=2)
        yield Case(TOPIC, "over a network that delays and loses packets", over_a_poor_network, nodes=2)
    else:
        yield Case(TOPIC, "a node that is started again", restarted_node, nodes=2)
        yield Case(TOPIC, "a node that loses its power", killed_node, nodes=2)
        yield Case(TOPIC, "a node that stands still", paused_node, nodes=2)
    yield Case(TOPIC, "clients that are killed", killed_clients)
    yield Case(TOPIC, "a PD for each client", own_pds)
    yield Case(TOPIC, "an address that is removed and added again", address_returns)
