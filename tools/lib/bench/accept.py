# SPDX-License-Identifier: BSD-2-Clause
"""One server, and clients that start, connect, read 4 KB and end, several at a time: connections per second."""

import dataclasses
import functools

from . import functions, standin, warm
from .connecting import Server, burst, by_verb, command, joined, learn_server, microseconds, processor, programs
from .functions import MODES
from .results import row
from .say import say

# Besides these there are as many before, from which the daemon learns how many come at a time, and the server that
# they come.
CLIENTS = 64


def measure(products, runs, at_a_time=(1, 2, 4, 8, 16, 32), suffix=""):
    with warm.node(products, programs(products, "server", "client", "burst")) as node:
        learn_server(node, "client")
        return [measure_n(node, runs, n, suffix) for n in at_a_time]


def measure_n(node, runs, n, suffix):
    samples = functions.in_turn(node, runs, lambda mode: once(node, mode, n))
    say(f"{n} at a time")
    detail = {mode: detailed(samples[mode]) for mode in MODES}
    rates = {mode: [CLIENTS * 1e9 / each.clients["took"][0] for each in samples[mode]] for mode in MODES}
    each = row(f"accept_{n}{suffix}", **rates, note=note(detail), detail=detail)
    # More is better.
    return {**each, "ratio": round(each["warm"] / each["plain"], 3)}


@dataclasses.dataclass(frozen=True)
class Sample:
    clients: dict  # what they printed
    server: dict
    processors: dict  # nanoseconds of each side, for each connection: a list of one


def once(node, mode, n):
    with Server(node, mode, first=CLIENTS) as server:
        words = command(node, "client", server.port, i="@")
        burst(node, mode, n, CLIENTS, words)
        node.settle()
        pids = {"server": server.pid, "daemon": node.daemon.pid, "stand-in": standin.pid()}
        before = {name: processor(pid) for name, pid in pids.items() if pid}
        clients = burst(node, mode, n, CLIENTS, words)
        spent = {name: processor(pids[name]) - then for name, then in before.items()}
    spent["clients"] = clients["processor"][0]
    return Sample(clients, server.printed, {name: [each / CLIENTS] for name, each in spent.items()})


def detailed(samples):
    """Microseconds, medians; and the share of the time in which the server was in verbs."""
    clients, server, processors = (
        joined([getattr(each, field) for each in samples]) for field in ("clients", "server", "processors")
    )
    ended = microseconds(clients["lived"]) - microseconds(clients["first_completion"])
    return {
        "client": {**by_verb(clients), "end": ended},
        "server": by_verb(server),
        "processor": by_verb(processors),
        "server_in_verbs": sum(map(sum, server.values())) / sum(clients["took"]),
    }


def note(detail):
    """How long a client lived, and whose processor time a connection takes."""

    def side(of):
        shares = ", ".join(f"{name} {time / 1000:.2f}" for name, time in of["processor"].items())
        return f"{of['client']['lived'] / 1000:.3g} ms ({shares})"

    return " -> ".join(side(detail[mode]) for mode in MODES)


# In the virtual machine, 64 clients take a quarter of a minute.
counting = functools.partial(measure, at_a_time=(1, 8, 32))
on_model_a = functools.partial(measure, suffix="_a")
