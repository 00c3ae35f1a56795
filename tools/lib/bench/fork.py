# SPDX-License-Identifier: BSD-2-Clause
"""Children of a process that forks, bench/zygote.c: time to their first queue pair, time of fork(), system calls."""

import collections
import functools
import pathlib
import re
import tempfile

import session

from . import warm
from .results import figures, row

# The zygote rests long enough before each fork to replace the set that the last child took.
SETS = 16
PAUSE_MS = 200
# The zygote learns from the first child; the others give it time to make all sets.
FIRST = 5
CHILDREN = 5
TRACED = 1

NO_VERBS = ("fork", "fork_to_init", "list_to_init", "mappings")
COUNTED_MODES = ("plain", "warm")
CALL = re.compile(r"^(\w+)\(", re.MULTILINE)
MARK = re.compile(r'^write\(-1, "(?:begin|end)".*\n', re.MULTILINE)


def measure(products, runs, suffix=""):
    command = zygote(products, CHILDREN)
    with warm.node(products, [command[0], "/usr/bin/strace"]) as node:
        samples = warm.interleave(node, runs, lambda mode: figures(run(node, command, mode)))
        floor = [figures(run(node, [*command, "-k"], "preload")) for _ in range(runs)]
        return [
            child(f"child_list_to_init{suffix}", samples),
            row(f"fork_to_init{suffix}", **microseconds(samples, "fork_to_init")),
            cost(f"fork_cost{suffix}", samples),
            above_floor(f"fork_floor{suffix}", samples, floor),
            system_calls(f"child_syscalls{suffix}", node),
        ]


on_model_a = functools.partial(measure, suffix="_a")
on_model_b = functools.partial(measure, suffix="_b")


def zygote(products, children):
    return [products.bench("zygote"), "-n", str(children), "-f", str(FIRST), "-p", str(PAUSE_MS)]


def run(node, command, mode):
    return session.finish(start(node, command, mode))


def start(node, command, mode):
    """Only in mode warm does the zygote hold sets; mode preload shows what the library alone costs fork()."""
    extra = {"WARMVERBS_PREFORK": SETS} if mode == "warm" else {}
    return node.start(command, mode, **extra)


def child(name, samples):
    verbs = [verb for verb in samples["plain"][0] if verb not in NO_VERBS]
    detail = {verb: row(verb, **microseconds(samples, verb)) for verb in verbs}
    return row(name, **microseconds(samples, "list_to_init"), detail=detail)


def cost(name, samples):
    each = row(name, **microseconds(samples, "fork"), sets=SETS)
    mappings = {mode: samples[mode][-1]["mappings"] for mode in samples}
    times = each["warm"] / each["plain"]
    note = f"{times:.2f} times plain, {mappings['warm']} mappings instead of {mappings['plain']}"
    return {**each, "times_plain": round(times, 4), "mappings": mappings, "note": note}


def above_floor(name, samples, floor):
    """fork() with sets, and, as preload, in a process that by itself keeps one set of objects and a thread."""
    each = row(name, **microseconds({"preload": floor, "warm": samples["warm"]}, "fork"))
    times = each["warm"] / each["preload"]
    note = f"{times:.2f} times a process that keeps one set and a thread, {floor[-1]['mappings']} mappings"
    return {**each, "times_floor": round(times, 4), "note": note}


def microseconds(samples, name):
    return {mode: [each[name] / 1000 for each in samples[mode]] for mode in samples}


def system_calls(name, node):
    """System calls of the last child, from the device list to INIT, and those within fork() before them."""
    traces = {mode: traced(node, mode) for mode in COUNTED_MODES}
    calls = {mode: counted(after_fork) for mode, (_, after_fork) in traces.items()}
    before = {mode: counted(in_fork) for mode, (in_fork, _) in traces.items()}
    totals = {mode: sum(before[mode].values()) for mode in COUNTED_MODES}
    return row(
        name,
        **{mode: [sum(calls[mode].values())] for mode in COUNTED_MODES},
        unit="calls",
        runs=1,
        note="and within fork() {plain} : {warm}".format(**totals),
        detail=calls,
        within_fork=before,
    )


def traced(node, mode):
    """The lines of strace for the last child: up to its first verb, and from there to INIT."""
    with tempfile.TemporaryDirectory() as folder:
        strace = ["strace", "-ff", "-o", f"{folder}/of"]
        run(node, [*strace, *zygote(node.products, TRACED), "-m"], mode)
        children = [text for text in map(pathlib.Path.read_text, last_first(folder)) if MARK.search(text)]
    if len(children) != FIRST + TRACED:
        raise session.SessionError(f"strace saw {len(children)} children instead of {FIRST + TRACED}")
    return MARK.split(children[0])[:2]


def last_first(folder):
    """The output of strace, by process."""
    return sorted(pathlib.Path(folder).iterdir(), key=lambda path: int(path.suffix[1:]), reverse=True)


def counted(lines):
    """{name: times}"""
    return dict(collections.Counter(CALL.findall(lines)))
