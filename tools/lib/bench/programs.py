"""Real, unmodified programs: time to the first queue pair in INIT and in RTS, and the commands that reach the kernel.
Figures are the client's; a server's time to RTS depends on when its client comes."""

import session

from . import warm
from .pairs import PAIRS, counted, timed
from .results import row

COUNTED_MODES = ("plain", "warm")


def measure(products, runs):
    with warm.node(products, [which.program for which in PAIRS]) as node:
        return [line for which in PAIRS for line in measure_pair(node, runs, which)]


def measure_pair(node, runs, which):
    samples = warm.interleave(node, runs, lambda mode: timed(node, which, mode))
    commands = count(node, which)
    return [
        row(
            f"{which.name} to {state.upper()}",
            **{mode: [each["client"][f"list_to_{state}"] / 1000 for each in samples[mode]] for mode in session.MODES},
            **(commands if state == "init" else {}),
        )
        for state in ("init", "rts")
    ]


def count(node, which):
    """In runs of their own, because counting takes time."""
    result = {}
    for mode in COUNTED_MODES:
        node.settle()
        result[mode] = counted(node, which, mode)["client"]
    return {
        "commands": {mode: sum(times for times, _ in result[mode].values()) for mode in COUNTED_MODES},
        "commands_leased_kind": {mode: leased_kind(result[mode]) for mode in COUNTED_MODES},
    }


def leased_kind(commands):
    """Those that make an object or move a queue pair to INIT: what a lease is to save."""
    return sum(times for name, (times, kind) in commands.items() if kind == "create" or name.endswith("_to_init"))
