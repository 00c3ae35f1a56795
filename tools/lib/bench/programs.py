# SPDX-License-Identifier: BSD-2-Clause
"""Real, unmodified programs: time to the first queue pair in INIT and in RTS, and the commands that reach the kernel.
Figures are the client's, because a server's time to RTS depends on when its client connects."""

from . import warm
from .pairs import PAIRS, counted, timed
from .results import row

COUNTED_MODES = ("plain", "warm")


def measure(products, runs):
    with warm.node(products, [which.program for which in PAIRS]) as node:
        return [line for which in PAIRS for line in measure_pair(node, runs, which)]


def measure_pair(node, runs, which):
    samples = warm.interleave(node, runs, lambda mode: timed(node, which, mode)["client"])
    rows = {"exec to INIT": from_exec, "list to INIT": to_init, "list to RTS": to_rts}
    return [
        row(f"{which.name}, {name}", **{mode: [time(each) / 1000 for each in samples[mode]] for mode in samples})
        for name, time in rows.items()
    ] + [count(node, which)]


def from_exec(sample):
    return sample["start_to_list"] + sample["list_to_init"]


def to_init(sample):
    return sample["list_to_init"]


def to_rts(sample):
    return sample["list_to_rts"]


def count(node, which):
    """Kernel commands, counted in separate runs, because counting takes time."""
    commands = {}
    for mode in COUNTED_MODES:
        node.settle()
        commands[mode] = counted(node, which, mode)["client"]
    totals = {mode: [sum(times for times, _ in commands[mode].values())] for mode in COUNTED_MODES}
    of_leases = {mode: leased_kind(commands[mode]) for mode in COUNTED_MODES}
    note = "creating or to INIT: {plain} plain, {warm} warm".format(**of_leases)
    return row(f"{which.name}, kernel commands", **totals, unit="commands", of_leases=of_leases, note=note)


def leased_kind(commands):
    """Commands that create an object or move a queue pair to INIT: those that a lease should save."""
    return sum(times for name, (times, kind) in commands.items() if kind == "create" or name.endswith("_to_init"))
