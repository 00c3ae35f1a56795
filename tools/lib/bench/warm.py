# SPDX-License-Identifier: BSD-2-Clause
"""A node that is ready to measure on, and runs on it in all modes in turn."""

import contextlib
import os

import memory
import session

from .say import say


@contextlib.contextmanager
def node(products, programs, *options):
    """A node that has every file that `programs` read in memory; `options` are the daemon's."""
    if os.environ.get("LAB") == "vm":
        memory.hold([*products.all(), *programs])
    with session.Node(products, *options) as ready:
        yield ready


def apart(paths):
    """In the lab's virtual machine, no other files of the host are there."""
    return memory.apart(paths) if os.environ.get("LAB") == "vm" else contextlib.nullcontext()


@contextlib.contextmanager
def node_apart(products, paths, *options):
    """A node, for programs that also look for files that are not there."""
    with apart([*products.all(), *paths]), session.Node(products, *options) as ready:
        yield ready


def interleave(ready, runs, once, modes=session.MODES, progress=say):
    """The results of once(mode), by mode, `runs` for each; a first round, which also records, is not counted."""
    samples = {mode: [] for mode in modes}
    for run in range(runs + 1):
        for mode in modes:
            ready.settle()
            result = once(mode)
            if run:
                samples[mode].append(result)
        progress(f"run {run} of {runs}" if run else "warmed up")
    return samples
