# SPDX-License-Identifier: BSD-2-Clause
"""Processes that all connect to each other: time until each has a message from each other."""

import functools

from . import functions, warm
from .connecting import burst, by_verb, command, free_port, joined, learn, programs
from .functions import MODES
from .results import row
from .say import say


def measure(products, runs, processes=(2, 4, 8, 16, 32), suffix=""):
    return [measure_n(products, runs, n, suffix) for n in processes]


def measure_n(products, runs, n, suffix):
    with warm.node(products, programs(products, "mesh", "burst")) as node:
        learn(node, 1, lambda: once(node, "warm", n))
        once(node, "warm", n)  # From which the daemon learns how many come at once.
        samples = functions.in_turn(node, runs, lambda mode: once(node, mode, n))
    say(f"{n} processes")
    times = {mode: [(max(each["done"]) - each["began"][0]) / 1e6 for each in samples[mode]] for mode in MODES}
    detail = {mode: by_verb(joined(samples[mode])) for mode in MODES}
    return row(f"mesh_{n}{suffix}", **times, processes=n, detail=detail)


def once(node, mode, n):
    return burst(node, mode, n, n, command(node, "mesh", free_port(n), i="@", n=n))


# In the virtual machine, 32 processes take minutes.
counting = functools.partial(measure, processes=(2, 4, 8, 16))
on_model_a = functools.partial(measure, suffix="_a")
on_model_b = functools.partial(measure, suffix="_b")
