# SPDX-License-Identifier: BSD-2-Clause
"""Registered memory of a program that starts: bench/registered.c."""

import functools

from .teardown import in_both_modes

KILOBYTES = (64, 1024, 16 * 1024)
# The call alone, with the first touch of each page, and all of the start: a lease maps its memory when a device is
# opened.
TIMES = {"register": ("register",), "usable": ("register", "touch"), "start": ("start",)}


def measure(products, runs, suffix=""):
    return [
        in_both_modes(
            products,
            runs,
            f"{name}_{kilobytes}KB{suffix}",
            [products.bench("registered"), kilobytes],
            functools.partial(total, names),
        )
        for kilobytes in KILOBYTES
        for name, names in TIMES.items()
    ]


def total(names, lists):
    return sum(lists[name][0] for name in names)


on_model_a = functools.partial(measure, suffix="_a")
