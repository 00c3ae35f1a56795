# SPDX-License-Identifier: BSD-2-Clause
"""A store that is read by RDMA READs: workers join, several at once, while others read. Time until each serves its
first look-up, and look-ups per second over time. As a third way, workers are clients of a service, with leases."""

import collections
import functools
import time

import session

from . import connect, functions, warm
from .connecting import (
    FOLDERS,
    SERVICE,
    Server,
    beside_plain,
    burst,
    by_verb,
    command,
    figures,
    joined,
    learn_server,
    mode_of,
    programs,
    repeated,
)
from .functions import MODES
from .results import row
from .say import say

JOINING = (1, 8, 32)
STORES = {"plain": "server", "warm": "server", SERVICE: "host"}
BASE = 2  # workers that read already
SETTLED_SECONDS = 0.3  # of these
SLOT = "slot_"
SLOT_MS = 10  # as in bench/connect/worker.c
BEFORE_MS = 100  # shown of the time before others join
# For which the first workers read, and those that join.
BASE_MS = 1200
JOINED_MS = 400


def measure(products, runs, suffix="", ways=MODES):
    with warm.node(products, programs(products, "server", "worker", "burst")) as node:
        learn_server(node, "worker")
        if SERVICE in ways:
            learn_server(node, "worker", STORES[SERVICE], FOLDERS[SERVICE])
        rows = [line for n in JOINING for line in measure_n(node, runs, n, suffix, ways)]
        return rows + (commands(node, suffix, ways) if SERVICE in ways else [])


def commands(node, suffix, ways):
    """Of a worker, from its start to its end; it destroys nothing."""
    kinds = {}
    for way in ways:
        with store(node, way) as server:
            node.settle()
            words = command(node, "worker", server.port, FOLDERS[way], n=1)
            kinds[way] = connect.firmware_commands(node, words, mode_of(way))
    return [
        row(
            f"worker_commands{which}{suffix}",
            **{mode: [sum(each.values())] for mode, each in of_two.items()},
            unit="commands",
            note="warm: " + ", ".join(f"{times} {name}" for name, times in of_two["warm"].items()),
        )
        for which, of_two in beside_plain(kinds)
    ]


def store(node, way):
    return Server(node, mode_of(way), name=STORES[way], folder=FOLDERS[way])


def measure_n(node, runs, n, suffix, ways):
    samples = functions.in_turn(node, runs, lambda way: once(node, way, n), ways)
    say(f"{n} join")
    return [each for which, of_two in beside_plain(samples) for each in rows_of(n, f"{which}{suffix}", of_two)]


def rows_of(n, suffix, samples):
    joining = {mode: joined([each for each, _ in samples[mode]]) for mode in MODES}
    detail = {mode: by_verb(joining[mode]) for mode in MODES}
    over_time = {mode: average([slots for _, slots in samples[mode]]) for mode in MODES}
    all_serve = {mode: [max(each["first_read"]) / 1000 for each, _ in samples[mode]] for mode in MODES}
    first = {mode: [each / 1000 for each in joining[mode]["first_read"]] for mode in MODES}
    return [
        row(f"first_read_{n}{suffix}", **first, joining=n, detail=detail, over_time=over_time),
        row(f"all_serve_{n}{suffix}", **all_serve, joining=n),
    ]


def once(node, way, n):
    """What those that join print, and look-ups by time."""
    mode = mode_of(way)
    with store(node, way) as server:
        def worker(milliseconds):
            return command(node, "worker", server.port, FOLDERS[way], n=milliseconds)

        burst(node, mode, n, 2 * n, worker(1))
        node.settle()
        base = node.start(repeated(node, BASE, BASE, worker(BASE_MS)), mode)
        time.sleep(SETTLED_SECONDS)
        node.settle()
        joining = burst(node, mode, n, n, worker(JOINED_MS))
        others = figures(session.finish(base))
    return joining, slots([joining, others], joining["began"][0] / 1e6)


def slots(printed, began_ms):
    """{milliseconds since the others began to join: look-ups}"""
    totals = collections.Counter()
    for each in printed:
        for name, values in each.items():
            if name.startswith(SLOT):
                slot = int(name.removeprefix(SLOT)) - round(began_ms / SLOT_MS)
                totals[slot * SLOT_MS] += sum(values)
    return {at: totals[at] for at in range(-BEFORE_MS, JOINED_MS, SLOT_MS)}


def average(runs):
    """[(milliseconds, look-ups per second)] of several runs."""
    return [(at, round(sum(each[at] for each in runs) / len(runs) * 1000 / SLOT_MS)) for at in runs[0]]


on_model_a = functools.partial(measure, suffix="_a", ways=(*MODES, SERVICE))
