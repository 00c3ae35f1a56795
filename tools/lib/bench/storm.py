# SPDX-License-Identifier: BSD-2-Clause
"""Many children at once, of a parent with registered memory: bench/storm.c."""

import functools
import math

from . import warm
from .results import figures, row

MODES = ("plain", "warm")
SETS = 32
TIMES = ("fork", "first_completion")
# What happens to a parent's registered memory at fork(): the kernel copies it, or libibverbs, if it cannot know that
# the kernel does, excludes it from children.
SETTINGS = {"": ((), {}), "_madvise": (("-o",), {"IBV_FORK_SAFE": 1})}
CHILDREN = (1, 10, 50, 200)
# In the virtual machine each living child has a copy of the registered memory; copying 1 GB takes minutes.
MEGABYTES_COPIED = (1, 16, 64, 256)
MEGABYTES_AT_ONCE = 1024
MEGABYTES = (1, 64, 1024)


def measure(products, runs, cells, suffix=""):
    with warm.node(products, [products.bench("storm")]) as node:
        return [
            line
            for children, megabytes in cells
            for setting in SETTINGS
            for line in measure_one(node, runs, children, megabytes, setting, suffix)
        ]


def grid(sizes, at_once):
    return [
        (children, megabytes) for megabytes in sizes for children in CHILDREN if children * megabytes <= at_once
    ]


counting = functools.partial(measure, cells=grid(MEGABYTES_COPIED, MEGABYTES_AT_ONCE))
on_model_b = functools.partial(measure, cells=grid(MEGABYTES, math.inf), suffix="_b")


def measure_one(node, runs, children, megabytes, setting, suffix):
    options, environment = SETTINGS[setting]
    command = [node.products.bench("storm"), "-n", str(children), "-r", str(megabytes), *options]

    def once(mode):
        extra = {"WARMVERBS_PREFORK": SETS} if mode == "warm" else {}
        return figures(node.run(command, mode, **environment, **extra))

    samples = warm.interleave(node, runs, once, MODES)
    name = f"{megabytes}MB_{children}{setting}{suffix}"
    return [timed(f"{time}_{name}", time, samples, children, megabytes, setting) for time in TIMES]


def timed(name, time, samples, children, megabytes, setting):
    most = row(name, **microseconds(samples, f"{time}_most"))
    return row(
        name,
        **microseconds(samples, time),
        children=children,
        megabytes=megabytes,
        setting=setting.strip("_") or "copy-on-fork",
        most={mode: most[mode] for mode in MODES},
        note="at most {plain:,.0f} : {warm:,.0f}".format(**most),
    )


def microseconds(samples, name):
    return {mode: [each[name] / 1000 for each in samples[mode]] for mode in MODES}
