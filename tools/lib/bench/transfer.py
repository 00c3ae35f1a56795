# SPDX-License-Identifier: BSD-2-Clause
"""One function hands some bytes to another: both start, connect, transfer the bytes, and end. As a third way, one is the
client of the other's service, with leases."""

import functools

from . import warm
from .connecting import SERVICE, beside_plain, burst_by, by_verb, free_port, joined, learn, programs
from .results import row
from .say import say

MODES = ("plain", "warm")
BYTES = (1, 64, 1024, 4096, 16384, 65536)
FUNCTIONS = 2


def measure(products, runs, suffix="", ways=MODES):
    with warm.node(products, programs(products, "transfer", "burst")) as node:
        for recipes, way in enumerate(ways[1:], 1):
            learn(node, recipes, lambda way=way: once(node, way, 1))
        return [line for size in BYTES for line in measure_size(node, runs, size, suffix, ways)]


def measure_size(node, runs, size, suffix, ways):
    samples = warm.interleave(node, runs, lambda way: once(node, way, size), ways, progress=lambda _: None)
    say(f"{size} bytes")
    return [row_of(size, f"{which}{suffix}", of_two) for which, of_two in beside_plain(samples)]


def row_of(size, suffix, samples):
    lists = {mode: joined(samples[mode]) for mode in MODES}
    took = {mode: [each / 1000 for each in lists[mode]["took"]] for mode in MODES}
    arrived = {
        mode: row("", plain=[(each["received"][0] - each["began"][0]) / 1000 for each in samples[mode]])["plain"]
        for mode in MODES
    }
    note = "received after {plain:,.0f} : {warm:,.0f}".format(**arrived)
    detail = {mode: by_verb(lists[mode]) for mode in MODES}
    return row(f"transfer_{size}{suffix}", **took, bytes=size, received=arrived, note=note, detail=detail)


def once(node, way, size):
    return burst_by(node, way, "transfer", free_port(), FUNCTIONS, n=size)


on_model_a = functools.partial(measure, suffix="_a", ways=(*MODES, SERVICE))
on_model_b = functools.partial(measure, suffix="_b", ways=(*MODES, SERVICE))
