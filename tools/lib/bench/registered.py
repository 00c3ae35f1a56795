# SPDX-License-Identifier: BSD-2-Clause
"""Registered memory of a program that starts: bench/registered.c."""

import functools

from .teardown import rows_in_both_modes

KILOBYTES = (64, 1024, 16 * 1024)
# The call alone, with the first touch of each page, and all of the start: a lease maps its memory when a device is
# opened.
TIMES = {"register": ("register",), "usable": ("register", "touch"), "start": ("start",)}


def measure(products, runs, suffix=""):
    return [row for kilobytes in KILOBYTES for row in measure_size(products, runs, kilobytes, suffix)]


def measure_size(products, runs, kilobytes, suffix):
    rows = {f"{name}_{kilobytes}KB{suffix}": functools.partial(total, names) for name, names in TIMES.items()}
    return rows_in_both_modes(products, runs, rows, [products.bench("registered"), kilobytes])


def total(names, lists):
    return sum(lists[name][0] for name in names)


on_model_a = functools.partial(measure, suffix="_a")
