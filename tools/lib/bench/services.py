# SPDX-License-Identifier: BSD-2-Clause
"""Services on two nodes (bench/services): how long a client takes to be connected, and to hand something over, beside
the plain exchange; and how often a second the threads of one process are connected, and what that takes."""

import contextlib
import dataclasses
import functools
import subprocess

import session

from . import nodes, standin
from .connecting import Server, command, figures, processor
from .results import median, row
from .say import say

PLAIN, *BY_SERVICE = WAYS = ("plain", "asked", "ahead")
FOLDER = "services"
ENDS = ("connected", "noticed")
THREADS = (1, 2, 4, 8, 22)
ROUNDS = 3  # of the rates, each with CALLS
CALLS = 2000
END_SECONDS = 60


def measure(products, runs, suffix):
    """Times of single connections, to the other node and within one."""
    rows = []
    with nodes.two(products) as (here, there):
        for place, of_host in (("other_node", there), ("same_node", here)):
            with host(of_host) as served:
                output = here.run(
                    [*client(here, "calls", of_host, served, runs), *WAYS], "plain", WARMVERBS_SOCKET=here.socket
                )
            say(f"{place}{suffix}")
            rows += times(figures(output), f"{place}{suffix}")
    return rows


def host(node):
    return Server(node, "plain", first=0, name="host", folder=FOLDER, WARMVERBS_SOCKET=node.socket)


def client(node, name, of_host, served, n):
    return command(node, name, served.port, folder=FOLDER, a=of_host.address, n=n)


def times(spent, suffix):
    """Rows of services, beside the plain exchange of the same run."""
    us = {name: [each / 1000 for each in values] for name, values in spent.items()}
    return [
        row(
            f"{way}_{end}_{suffix}",
            plain=us[f"{PLAIN}_{end}"],
            warm=us[f"{way}_{end}"],
            quartiles=standin.spread({"plain": us[f"{PLAIN}_{end}"], "warm": us[f"{way}_{end}"]}),
        )
        for end in ENDS
        for way in BY_SERVICE
    ]


def rates(suffix, products, runs):
    """Connections per second of one process, which ends each of them."""
    del runs  # those of the times, of which there are more
    with nodes.two(products) as both:
        return [each for threads in THREADS for each in rates_of(both, threads, suffix)]


def rates_of(both, threads, suffix):
    with host(both[1]) as served:
        samples = {way: [] for way in WAYS}
        for _ in range(ROUNDS):
            for way in WAYS:
                samples[way].append(rate(both, served, threads, way))
    say(f"{threads} threads{suffix}")
    return [rate_row(f"{way}_{threads}_threads{suffix}", samples[PLAIN], samples[way]) for way in BY_SERVICE]


@dataclasses.dataclass(frozen=True)
class Rate:
    """Of some connections: how many a second, and what each took of every process."""

    per_second: float
    processors: dict  # microseconds
    commands: dict  # of firmware


def rate(both, served, threads, way):
    here, there = both
    words = [*client(here, "rate", there, served, CALLS), str(threads), way]
    with started(words, here.environment("plain", WARMVERBS_SOCKET=here.socket)) as process:
        pids = {
            "client": [process.pid],
            "daemons": [here.daemon.pid, there.daemon.pid],
            "host": [served.pid],
            "stand-in": [standin.pid()],
        }
        expect(process, "ready")
        before = (processors(pids), commands(both, pids))
        process.stdin.write("\n")
        process.stdin.flush()
        took = expect(process, "took")
        after = (processors(pids), commands(both, pids))
    us, each = (
        {name: (now[name] - then[name]) / CALLS for name in now} for then, now in zip(before, after, strict=True)
    )
    return Rate(CALLS * 1e9 / took, us, each)


@contextlib.contextmanager
def started(words, environment):
    """A program that is told when to go on, and ends by itself at the end of its standard input."""
    process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield process
        process.communicate(timeout=END_SECONDS)
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        raise session.SessionError(f"rate failed ({process.returncode}), see above")


def expect(process, name):
    """The value of the next line, which has that name."""
    found, _, value = process.stdout.readline().strip().partition(" ")
    if found != name:
        raise session.SessionError("rate failed, see above")
    return int(value or 0)


def processors(pids):
    """Microseconds until now."""
    return {name: sum(map(processor, some)) / 1000 for name, some in pids.items()}


def commands(both, pids):
    """How many until now."""
    counted = {pid: each["firmware"] for node in both for pid, each in standin.ask("counts", env=node.env).items()}
    return {name: sum(sum(counted.get(str(pid), {}).values()) for pid in some) for name, some in pids.items()}


def rate_row(name, plain, warm):
    """More is better, so the ratio is warm : plain."""
    sides = {"plain": plain, "warm": warm}
    each = row(name, **{mode: [one.per_second for one in samples] for mode, samples in sides.items()})
    detail = {mode: typical(samples) for mode, samples in sides.items()}
    return {
        **each,
        "ratio": round(each["warm"] / each["plain"], 3),
        "unit": "connections/s",
        "note": " -> ".join(note(of) for of in detail.values()),
        "detail": detail,
    }


def typical(samples):
    """What a connection took of each process, medians."""
    return {
        field: {name: median([getattr(one, field)[name] for one in samples]) for name in getattr(samples[0], field)}
        for field in ("processors", "commands")
    }


def note(detail):
    """Commands of a connection, and whose processor time it takes, in milliseconds."""
    us = detail["processors"]
    shares = ", ".join(f"{name} {each / 1000:.2f}" for name, each in us.items())
    return f"{sum(detail['commands'].values()):.0f} commands, {sum(us.values()) / 1000:.2f} ms ({shares})"


on_model_a = functools.partial(measure, suffix="_a")
on_model_zero = functools.partial(measure, suffix="_zero")
rates_on_model_zero = functools.partial(rates, "_zero")
