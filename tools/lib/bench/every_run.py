# SPDX-License-Identifier: BSD-2-Clause
"""Real programs, each started again and again while there are leases to be had: who is warm, and how long they take. A
run is warm if warmverbs answered every command, of all its processes, that creates an object or moves a queue pair to
INIT."""

import collections
import dataclasses
import functools
import importlib
import pathlib
import shutil
import sys
import tempfile
import types

import memory
import session
from products import ROOT

from . import warm
from .results import row
from .say import say

LISTEN_SECONDS = 30
MODES = ("plain", "warm")
LIBRARIES = memory.PROVIDERS.parent
PLUGINS = ("ucx/*.so*", "openmpi/lib/openmpi*/*.so")
REASONS = 3  # that the note of a row names


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    commands: list  # one, or a server and a client
    ready: object = None  # whether the server listens
    endless: bool = False  # the server is ended


def measure(products, runs):
    suite = lab_suite()
    return [row_of(warmth, suite, products, runs, program) for program in programs(suite)]


def lab_suite():
    """Modules of the lab's tests, which describe the programs."""
    sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "lab")]
    names = ("cases_programs", "more_programs", "programs", "report")
    modules = {name: importlib.import_module(f"suite.{name}") for name in names}
    return types.SimpleNamespace(trace=importlib.import_module("support.trace"), **modules)


def programs(suite):
    for pair in (*suite.cases_programs.PAIRS, *suite.more_programs.PAIRS):
        if not pair.unsupported:
            yield Program(pair.name, [pair.server, pair.client], pair.ready, pair.endless)
    for words in suite.cases_programs.SINGLE:
        yield Program(" ".join(words), [words])
    for name, words in suite.more_programs.SINGLE.items():
        yield Program(name, [words])


def times(products, runs):
    """From the start of a program to its end, of a client beside its server."""
    suite = lab_suite()
    return [row_of(timed, suite, products, runs, program) for program in programs(suite) if does_not_poll(program)]


def does_not_poll(program):
    """Of two processes that poll on one processor, each waits for the other's time slices."""
    return len(program.commands) == 1 or "-e" in program.commands[-1]


def row_of(measured, suite, products, runs, program):
    """What measured() returns, unless the program cannot run."""
    missing = [words[0] for words in program.commands if not shutil.which(words[0])]
    if missing:
        return row(program.name, note=f"{missing[0]} is not installed")
    try:
        return measured(suite, products, runs, program)
    except (session.SessionError, suite.report.Failure) as error:
        say(f"{program.name}: {error}")
        return row(program.name, note="failed")


def warmth(suite, products, runs, program):
    """The first run is recorded and does not count."""
    with session.Node(products) as node:
        events = [one_run(suite, node, program) for _ in range(runs)]
    result = told(suite.trace, program, events[1:] or events)
    say(f"{program.name}: {result['plain']} commands, warm {result['warm']}: {result['note'] or 'all from leases'}")
    return result


def timed(suite, products, runs, program):
    with warm.node(products, [*(shutil.which(words[0]) for words in program.commands), *plugins()]) as node:
        once = functools.partial(milliseconds, suite, node, program)
        samples = warm.interleave(node, runs, once, MODES, progress=lambda _: None)
    result = row(f"{program.name}, start to end", **samples, unit="ms")
    say(f"{result['name']}: {result['plain']} ms, warm {result['warm']} ms")
    return result


def plugins():
    """What programs load by dlopen(3), which ldd does not know."""
    return [path for pattern in PLUGINS for path in LIBRARIES.glob(pattern)]


def one_run(suite, node, program):
    """What happened in all processes of a run: trace.Events."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace")
        run(suite, program, node.environment("warm", WARMVERBS_TRACE=trace, **suite.more_programs.ENVIRONMENT), folder)
        node.settle()
        return suite.trace.read(trace)


def milliseconds(suite, node, program, mode):
    with tempfile.TemporaryDirectory() as folder:
        return run(suite, program, node.environment(mode, **suite.more_programs.ENVIRONMENT), folder).seconds * 1000


def run(suite, program, environment, folder):
    """The result of its last command."""
    running = []
    try:
        for words in map(suite.cases_programs.command, program.commands):
            running.append(suite.programs.Running(words, environment, pathlib.Path(folder), f"{len(running)}"))
            if len(running) < len(program.commands):
                session.wait_until(lambda: program.ready(running[0]), LISTEN_SECONDS, lambda: "does not listen")
        return finish(program, running)
    finally:
        for each in running:
            each.abort()


def finish(program, running):
    last = running[-1].wait()
    results = [last] if program.endless else [each.wait() for each in running]
    if program.endless:
        running[0].terminate()
    for result in results:
        if result.status:
            raise session.SessionError(f"{result.command} failed ({result.status}):\n{result.out}{result.err}")
    return last


def told(trace, program, runs):
    makes = [[event for event in events if event.makes and not event.error] for events in runs]
    if not any(makes):
        return row(program.name, note="creates nothing")
    left = [[event for event in events if event.how not in (trace.ADOPTED, trace.SPARE)] for events in makes]
    reasons = collections.Counter(reason(trace, event) for events in left for event in events)
    share = sum(not events for events in left) / len(left)
    note = ", ".join(f"{times} {text}" for text, times in reasons.most_common(REASONS))
    commands = list(map(len, makes))
    return {**row(program.name, plain=commands, note=note, left=dict(reasons)), "warm": round(share, 3)}


def reason(trace, event):
    """What was left to the kernel, and why."""
    return f"{event.makes} ({'recorded' if event.how == trace.RECORDED else event.why})"
