# SPDX-License-Identifier: BSD-2-Clause
"""A small function runtime, bench/functions: each request starts a function, uses one that was kept, or forks one."""

import contextlib
import functools
import subprocess

import session

from . import template, warm
from .results import figures, row
from .say import say

WAYS = ("cold", "warm", "fork", "ready")  # ready: cold with warmverbs' templates, plainly without
AT_A_TIME = (1, 2, 4, 8, 16, 32)
MODES = ("plain", "warm")
PERCENTILES = ("p50", "p90", "p99")
TIMES = ("latency", "first_completion")
# The server is not measured: it always has a thread ready for the next function.
SERVER_THREADS = 48
SERVER_SECONDS = 30
# One process forks one child after the other, so a few sets are enough; more would make each fork() slower.
SETS = 8


def measure(products, runs, requests, suffix=""):
    programs = [products.bench(f"functions/{name}") for name in ("launch", "function", "server")]
    with warm.node(products, [*programs, *products.templates()]) as node, server(node) as port:
        return [
            measure_way(node, runs, port, way, at_a_time, requests, suffix) for way in WAYS for at_a_time in AT_A_TIME
        ]


counting = functools.partial(measure, requests=32)
on_model_a = functools.partial(measure, requests=100, suffix="_a")
on_model_b = functools.partial(measure, requests=100, suffix="_b")


@contextlib.contextmanager
def server(node):
    """The memory server, without warmverbs; the port that it listens on."""
    command = [node.products.bench("functions/server"), str(SERVER_THREADS)]
    process = subprocess.Popen(
        command, env=node.environment("plain"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    try:
        line = process.stdout.readline().decode().split()
        if line[:1] != ["port"]:
            raise session.SessionError("the memory server did not start, see above")
        yield line[1]
    finally:
        process.terminate()
        process.communicate(timeout=SERVER_SECONDS)


def measure_way(node, runs, port, way, at_a_time, requests, suffix):
    launch, function = (node.products.bench(f"functions/{name}") for name in ("launch", "function"))
    command = [launch, "-c", str(at_a_time), "-n", str(requests), "cold" if way == "ready" else way, function, port]

    def once(mode):
        extra = {"WARMVERBS_PREFORK": SETS} if mode == "warm" and way == "fork" else {}
        if mode != "warm" or way != "ready":
            return figures(node.run(command, mode, **extra))
        with template.of_program(node, function) as ready:
            ready.settle()
            return figures(node.run([*command[:1], "-s", ready.socket, *command[1:]], mode))

    samples = in_turn(node, runs, once)
    say(f"{way}, {at_a_time} at a time")
    return rated(f"{way}_{at_a_time}{suffix}", samples, requests)


def in_turn(node, runs, once, modes=MODES):
    """Each run begins with requests that are not counted, from which daemon and zygote learn."""
    samples = {mode: [] for mode in modes}
    for _ in range(runs):
        for mode in modes:
            node.settle()
            samples[mode].append(once(mode))
    return samples


def rated(name, samples, requests):
    """Requests per second. More is better, so the ratio is warm : plain."""
    per_second = {mode: [each["requests_in_1000_s"] / 1000 for each in samples[mode]] for mode in MODES}
    each = row(name, **per_second, requests=requests)
    detail = {
        mode: {
            **{f"{time}_{part}": typical(samples[mode], f"{time}_{part}") for time in TIMES for part in PERCENTILES},
            "control_share": round(typical(samples[mode], "control_permille_p50"), 3),
        }
        for mode in MODES
    }
    return {**each, "ratio": round(each["warm"] / each["plain"], 3), "note": note(detail), "detail": detail}


def typical(samples, name):
    """The median, in microseconds; of a share, a fraction of 1."""
    return row(name, plain=[each[name] / 1000 for each in samples])["plain"]


def note(detail):
    """Latency in milliseconds, and the control plane's share of the time to the first completion."""

    def side(of):
        latencies = (f"{of[f'latency_{part}'] / 1000:.3g}" for part in PERCENTILES)
        return f"{'/'.join(latencies)} ms {of['control_share']:.0%}"

    return " -> ".join(side(detail[mode]) for mode in MODES)
