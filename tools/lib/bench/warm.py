# SPDX-License-Identifier: BSD-2-Clause
"""A node that is ready to measure on, and runs on it in all modes in turn."""

import contextlib
import os

import memory
import session

from .say import say


def hold(programs):
    """In the lab's virtual machine, take every file that they read into memory."""
    if os.environ.get("LAB") == "vm":
        memory.hold(programs)


@contextlib.contextmanager
def node(products, programs, *options):
    """A node that has every file that `programs` read in memory; `options` are the daemon's."""
    hold([*products.all(), *programs])
    with session.Node(products, *options) as ready:
        yield ready


def apart(find_paths):
    """In the lab's virtual machine, no other files of the host are there."""
    return memory.apart(find_paths()) if os.environ.get("LAB") == "vm" else contextlib.nullcontext()


@contextlib.contextmanager
def node_apart(products, find_paths, *options):
    """A node, for programs that also look for files that are not there."""
    with apart(lambda: [*products.all(), *find_paths()]), session.Node(products, *options) as ready:
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
