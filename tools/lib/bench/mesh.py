# SPDX-License-Identifier: BSD-2-Clause
"""Processes that all connect to each other: time until each has a message from each other. As a third way, each is a
service, with leases."""

import functools

from . import functions, warm
from .connecting import SERVICE, beside_plain, burst_by, by_verb, free_port, joined, learn, programs
from .functions import MODES
from .results import row
from .say import say


def measure(products, runs, processes=(2, 4, 8, 16, 32), suffix="", ways=MODES):
    return [each for n in processes for each in measure_n(products, runs, n, suffix, ways)]


def measure_n(products, runs, n, suffix, ways):
    with warm.node(products, programs(products, "mesh", "burst")) as node:
        for recipes, way in enumerate(ways[1:], 1):
            learn(node, recipes, lambda way=way: once(node, way, n))
            once(node, way, n)  # From which the daemon learns how many come at once.
        samples = functions.in_turn(node, runs, lambda way: once(node, way, n), ways)
    say(f"{n} processes")
    return [row_of(n, f"{which}{suffix}", of_two) for which, of_two in beside_plain(samples)]


def row_of(n, suffix, samples):
    times = {mode: [(max(each["done"]) - each["began"][0]) / 1e6 for each in samples[mode]] for mode in MODES}
    detail = {mode: by_verb(joined(samples[mode])) for mode in MODES}
    return row(f"mesh_{n}{suffix}", **times, processes=n, detail=detail)


def once(node, way, n):
    return burst_by(node, way, "mesh", free_port(n), n, n=n)


# In the virtual machine, 32 processes take minutes.
counting = functools.partial(measure, processes=(2, 4, 8, 16))
on_model_a = functools.partial(measure, suffix="_a", ways=(*MODES, SERVICE))
on_model_b = functools.partial(measure, suffix="_b", ways=(*MODES, SERVICE))
