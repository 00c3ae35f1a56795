# SPDX-License-Identifier: BSD-2-Clause
"""One function hands some bytes to another: both start, connect, transfer the bytes, and end."""

import functools

from . import warm
from .connecting import burst, by_verb, command, free_port, joined, learn, programs
from .results import row
from .say import say

MODES = ("plain", "warm")
BYTES = (1, 64, 1024, 4096, 16384, 65536)
FUNCTIONS = 2


def measure(products, runs, suffix=""):
    with warm.node(products, programs(products, "transfer", "burst")) as node:
        learn(node, 1, lambda: once(node, "warm", 1))
        return [measure_size(node, runs, size, suffix) for size in BYTES]


def measure_size(node, runs, size, suffix):
    samples = warm.interleave(node, runs, lambda mode: once(node, mode, size), MODES, progress=lambda _: None)
    say(f"{size} bytes")
    lists = {mode: joined(samples[mode]) for mode in MODES}
    took = {mode: [each / 1000 for each in lists[mode]["took"]] for mode in MODES}
    arrived = {
        mode: row("", plain=[(each["received"][0] - each["began"][0]) / 1000 for each in samples[mode]])["plain"]
        for mode in MODES
    }
    note = "received after {plain:,.0f} : {warm:,.0f}".format(**arrived)
    detail = {mode: by_verb(lists[mode]) for mode in MODES}
    return row(f"transfer_{size}{suffix}", **took, bytes=size, received=arrived, note=note, detail=detail)


def once(node, mode, size):
    words = command(node, "transfer", free_port(), i="@", n=size)
    return burst(node, mode, FUNCTIONS, FUNCTIONS, words)


on_model_a = functools.partial(measure, suffix="_a")
on_model_b = functools.partial(measure, suffix="_b")
