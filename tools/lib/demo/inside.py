# SPDX-License-Identifier: BSD-2-Clause
"""What tools/demo runs inside the lab: inside.py BUILD-FOLDER."""

import os
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from bench import pairs, phases, warm  # noqa: E402  (the path comes first)
from demo import report  # noqa: E402
from products import Products  # noqa: E402
from session import SessionError  # noqa: E402

RUNS = 3


def main():
    built = Products(pathlib.Path(sys.argv[1]))
    programs = [which.program or which.name for which in pairs.PAIRS]
    try:
        with warm.node(built, [*programs, built.bench("phases")]) as node:
            return show(node)
    except SessionError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


def show(node):
    rows = [measure(node, which) for which in pairs.PAIRS]
    say("phases: a small program, verb by verb")
    by_phase = phases.rows(phases.collect(node, RUNS, progress=ignore), phases.ROWS)
    report.place(os.environ.get("LAB") == "vm")
    report.programs(rows)
    report.phases(by_phase)
    report.served(rows)
    return report.summary(rows)


def measure(node, which):
    say(f"{which.name}: plain and warm, server and client")
    samples = warm.interleave(
        node, RUNS, lambda mode: pairs.timed(node, which, mode), modes=("plain", "warm"), progress=ignore
    )
    commands = {}
    for mode in samples:
        node.settle()
        commands[mode] = pairs.counted(node, which, mode)
    return report.Measured(which.name, samples, commands)


def ignore(_):
    """Single runs are too short to report as progress."""


def say(message):
    print(f"demo: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
