"""Children of a process that forks, bench/zygote.c: to their first queue pair, what fork() costs, system calls."""

import collections
import functools
import pathlib
import re
import tempfile

import session

from . import warm
from .results import figures, row

# So many sets a zygote holds, and so long it rests before each fork, that a taken one has been made anew.
SETS = 16
PAUSE_MS = 200
# The first child teaches, the others give time to have all sets ready.
FIRST = 5
CHILDREN = 5
TRACED = 1

COUNTED_MODES = ("plain", "warm")
CALL = re.compile(r"^(\w+)\(")
MARK = re.compile(r'^write\(-1, "(begin|end)"')


def measure(products, runs, suffix=""):
    command = zygote(products, CHILDREN)
    with warm.node(products, [command[0], "/usr/bin/strace"]) as node:
        samples = warm.interleave(node, runs, lambda mode: figures(run(node, command, mode)))
        return [
            child(f"child_list_to_init{suffix}", samples),
            cost(f"fork_cost{suffix}", samples),
            system_calls(f"child_syscalls{suffix}", node),
        ]


on_model_a = functools.partial(measure, suffix="_a")
on_model_b = functools.partial(measure, suffix="_b")


def zygote(products, children):
    return [products.bench("zygote"), "-n", str(children), "-f", str(FIRST), "-p", str(PAUSE_MS)]


def run(node, command, mode):
    return session.finish(start(node, command, mode))


def start(node, command, mode):
    """Only warm may a zygote hold sets; preload shows what the library alone does to fork()."""
    extra = {"WARMVERBS_PREFORK": SETS} if mode == "warm" else {}
    return node.start(command, mode, **extra)


def child(name, samples):
    verbs = [verb for verb in samples["plain"][0] if verb not in ("fork", "mappings", "list_to_init")]
    detail = {verb: row(verb, **microseconds(samples, verb)) for verb in verbs}
    return row(name, **microseconds(samples, "list_to_init"), detail=detail)


def cost(name, samples):
    each = row(name, **microseconds(samples, "fork"), sets=SETS)
    mappings = {mode: samples[mode][-1]["mappings"] for mode in samples}
    times = each["warm"] / each["plain"]
    note = f"{times:.2f} times plain, {mappings['warm']} mappings instead of {mappings['plain']}"
    return {**each, "times_plain": round(times, 4), "mappings": mappings, "note": note}


def microseconds(samples, name):
    return {mode: [each[name] / 1000 for each in samples[mode]] for mode in samples}


def system_calls(name, node):
    """Of the last child, from the device list to INIT."""
    calls = {mode: traced(node, mode) for mode in COUNTED_MODES}
    return row(
        name, **{mode: [sum(calls[mode].values())] for mode in COUNTED_MODES}, unit="calls", runs=1, detail=calls
    )


def traced(node, mode):
    """{name: times}"""
    with tempfile.TemporaryDirectory() as folder:
        strace = ["strace", "-ff", "-o", f"{folder}/of"]
        run(node, [*strace, *zygote(node.products, TRACED), "-m"], mode)
        children = [text for text in map(pathlib.Path.read_text, last_first(folder)) if '"begin"' in text]
    if len(children) != FIRST + TRACED:
        raise session.SessionError(f"strace saw {len(children)} children instead of {FIRST + TRACED}")
    return between_marks(children[0])


def last_first(folder):
    """What strace has written, by process."""
    return sorted(pathlib.Path(folder).iterdir(), key=lambda path: int(path.suffix[1:]), reverse=True)


def between_marks(text):
    lines = text.splitlines()
    begin, end = (i for i, line in enumerate(lines) if MARK.match(line))
    return dict(collections.Counter(match[1] for line in lines[begin + 1 : end] if (match := CALL.match(line))))
