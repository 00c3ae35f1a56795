# SPDX-License-Identifier: BSD-2-Clause
"""The end of programs: bench/teardown.c, which destroys all that it has, or leaves that to the kernel. And a rolling
restart: each program that ends is followed by a new one."""

import functools

from . import device, warm
from .connecting import burst, by_verb, joined, learn, programs
from .results import row
from .say import say

MODES = ("plain", "warm")
# The stand-in destroys what a process has left when the process is gone already, in no time.
ENDS = {"destroy": (), "exit": ("-x",)}
ENDS_ON_STANDIN = {"destroy": ()}
CALLS = ("destroy_qps", "destroy_cq", "dereg_mr", "dealloc_pd", "close_device")
# Queue pairs, and megabytes registered.
SHAPES = ((1, 1), (16, 1), (128, 1), (256, 1), (1, 64), (1, 1024))
QPS_OF_LEASE = 128  # of these programs: a recipe has at most 512 commands
RESTARTED = 100
AT_A_TIME = 10
RESTARTED_SHAPE = (4, 16)


def measure(products, runs, ends, suffix=""):
    rows = [
        measure_one(products, runs, f"{name}_{shape[0]}_{shape[1]}MB{suffix}", shape, options)
        for shape in SHAPES
        for name, options in ends.items()
    ]
    return [*rows, restart(products, runs, suffix)]


def measure_one(products, runs, name, shape, options):
    words = command(products, shape, *options)
    if shape[0] <= QPS_OF_LEASE:
        return in_both_modes(products, runs, name, words, gone)
    with warm.node(products, programs(products, "burst")) as node:
        samples = samples_of(node, runs, words, 1, 1, ("plain",))
    return row_of(name, samples, gone, note="more than a lease can hold")


def restart(products, runs, suffix):
    """All of them, from the first start to the last end."""
    words = command(products, RESTARTED_SHAPE)
    return in_both_modes(
        products, runs, f"restart_{RESTARTED}{suffix}", words, lambda lists: lists["took"][0], AT_A_TIME, RESTARTED
    )


def command(products, shape, *options):
    gid, _ = device.address()
    queue_pairs, megabytes = shape
    return [products.bench("teardown"), "-g", gid, "-q", queue_pairs, "-r", megabytes, *options]


def in_both_modes(products, runs, name, words, time, at_a_time=1, times=1):
    [one] = rows_in_both_modes(products, runs, {name: time}, words, at_a_time, times)
    return one


def rows_in_both_modes(products, runs, rows, words, at_a_time=1, times=1):
    """A row for each time of the same runs. They have a node of their own: a program has one recipe, and all its runs
    are alike."""
    with warm.node(products, programs(products, "burst")) as node:
        learn(node, 1, lambda: burst(node, "warm", 1, 1, words))
        samples = samples_of(node, runs, words, at_a_time, times, MODES)
        served = hits(node)
    return [row_of(name, samples, time, note=f"{served:.0%} with a lease") for name, time in rows.items()]


def samples_of(node, runs, words, at_a_time, times, modes):
    def once(mode):
        return burst(node, mode, at_a_time, times, words)

    return warm.interleave(node, runs, once, modes, progress=lambda _: None)


def row_of(name, samples, time, note):
    """time() makes nanoseconds of what one burst prints."""
    say(name)
    times = {mode: [time(lists) / 1000 for lists in samples[mode]] for mode in samples}
    return row(name, **times, note=note, detail={mode: by_verb(joined(samples[mode])) for mode in samples})


def gone(lists):
    """Nanoseconds from the first destroy call, or from the last statement, until the parent hears of the end."""
    return sum(lists[name][0] for name in CALLS if name in lists) + lists["lived"][0] - lists["left"][0]


def hits(node):
    """The share of opens that were served by a lease, of those that the daemon knew."""
    counters = [recipe["counters"] for recipe in node.status()["recipes"]]
    served, missed = (sum(each[name] for each in counters) for name in ("hits", "misses"))
    return served / (served + missed)


counting = functools.partial(measure, ends=ENDS)
on_model_a = functools.partial(measure, ends=ENDS_ON_STANDIN, suffix="_a")
on_model_b = functools.partial(measure, ends=ENDS_ON_STANDIN, suffix="_b")
