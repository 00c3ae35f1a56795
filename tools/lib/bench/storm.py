"""Many children at once, of a parent with registered memory: bench/storm.c."""

import functools

from . import warm
from .results import figures, row

MODES = ("plain", "warm")
SETS = 32
TIMES = ("fork", "first_completion")
# How a parent's registered memory is kept from children: the kernel copies it at fork(), or libibverbs, where it can't
# know that the kernel does, leaves it out of them.
SETTINGS = {"": ((), {}), "_madvise": (("-o",), {"IBV_FORK_SAFE": 1})}
CHILDREN = (1, 10, 50, 200)
MEGABYTES = (1, 64, 1024)
EVERY = tuple((children, megabytes) for megabytes in MEGABYTES for children in CHILDREN)
# Each child that lives has a copy of the registered memory there: so many megabytes in all.
COPIES = 2048
THAT_FIT = tuple((children, megabytes) for children, megabytes in EVERY if children * megabytes <= COPIES)


def measure(products, runs, grid, suffix=""):
    with warm.node(products, [products.bench("storm")]) as node:
        return [
            line
            for children, megabytes in grid
            for setting in SETTINGS
            for line in measure_one(node, runs, children, megabytes, setting, suffix)
        ]


counting = functools.partial(measure, grid=THAT_FIT)
on_model_b = functools.partial(measure, grid=EVERY, suffix="_b")


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
