# SPDX-License-Identifier: BSD-2-Clause
"""The programs of bench/connect, which connect to each other: how they are started, and what they print."""

import collections
import contextlib
import pathlib
import random
import socket
import subprocess
import time

import session

from . import device
from .results import median

END_SECONDS = 30
CPUCLOCK_SCHED = 2  # of the kernel
LEARN_TIMES = 20
# What programs print besides times: moments on the machine's clock, and look-ups.
NO_TIMES = ("began", "done", "received", "slot_")
SERVICE = "service"  # besides the modes: with leases too, and connected by a service
# Where the programs are that connect in each of these ways.
FOLDERS = {"plain": "connect", "warm": "connect", SERVICE: "services"}
# From which a server learns that it makes one queue pair after another; they are not counted.
FIRST_CLIENTS = 8
LEAST_PORT = 1024
OUTGOING_PORTS = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
CONNECTING = ("create_qp", "modify_init", "modify_rtr", "modify_rts")  # by a server, for each client


def program(node, name, folder="connect"):
    return node.products.bench(f"{folder}/{name}")


def programs(products, *names):
    return [products.bench(f"connect/{name}") for name in names]


def command(node, name, port=None, folder="connect", **options):
    """The words that start a program; `options` are its own."""
    gid, address = device.address()
    words = {"d": device.name(), "g": gid, "a": address, "p": port, **options}
    return [
        program(node, name, folder),
        *(str(word) for key, value in words.items() if value is not None for word in (f"-{key}", value)),
    ]


def figures(text):
    """The "NAME VALUE" lines of several programs: {name: [value]}."""
    lists = collections.defaultdict(list)
    for line in text.splitlines():
        name, value = line.rsplit(maxsplit=1)
        lists[name].append(int(value))
    return lists


def repeated(node, at_a_time, times, words):
    """The words that run a program many times, several at a time."""
    return [program(node, "burst"), "-c", at_a_time, "-n", times, *words]


def burst(node, mode, at_a_time, times, words):
    """Run a program many times, several at a time; what all of them print."""
    return figures(node.run(repeated(node, at_a_time, times, words), mode))


def mode_of(way):
    return "warm" if way == SERVICE else way


def beside_plain(samples):
    """What each way that was sampled is to be compared with: (what the names of its rows have, samples of two modes)."""
    yield "", {mode: samples[mode] for mode in ("plain", "warm")}
    if SERVICE in samples:
        yield f"_{SERVICE}", {"plain": samples["plain"], "warm": samples[SERVICE]}


def burst_by(node, way, name, port, count, **options):
    """`count` of a program that connects this way, at the same time; what all of them print."""
    return burst(node, mode_of(way), count, count, command(node, name, port, FOLDERS[way], i="@", **options))


class Server:
    """It runs as long as the block lasts; `printed` is what it prints at its end, for each connection. The `first`
    clients show it their pattern, and are not counted. `folder` and `name` are of the program."""

    def __init__(self, node, mode, first=FIRST_CLIENTS, name="server", folder="connect", **extra):
        self._process = subprocess.Popen(
            command(node, name, folder=folder),
            env=node.environment(mode, **extra),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.pid = self._process.pid
        self._first = first
        self._name = name

    def __enter__(self):
        line = self._process.stdout.readline().decode().split()
        if line[:1] != ["port"]:
            raise session.SessionError(f"the {self._name} did not start, see above")
        self.port = line[1]
        return self

    def __exit__(self, *_):
        # The server ends when its standard input does.
        output, _ = self._process.communicate(timeout=END_SECONDS)
        if self._process.returncode:
            raise session.SessionError(f"the {self._name} failed ({self._process.returncode}), see above")
        self.printed = {name: values[self._first :] for name, values in figures(output.decode()).items()}

    def connections(self):
        """Nanoseconds of each connection."""
        return [sum(of_one) for of_one in zip(*(self.printed[name] for name in CONNECTING), strict=True)]


def processor(pid):
    """Nanoseconds that a process ran, in user space and in the kernel, with threads that have ended."""
    return time.clock_gettime_ns(~pid << 3 | CPUCLOCK_SCHED)  # as clock_getcpuclockid(3)


def microseconds(nanoseconds):
    return median([each / 1000 for each in nanoseconds])


def by_verb(lists):
    """Microseconds, medians, of all that took time."""
    return {name: microseconds(values) for name, values in lists.items() if not name.startswith(NO_TIMES)}


def joined(samples):
    """{name: [value]} of several runs, as of one."""
    return {name: [value for each in samples for value in each[name]] for name in samples[0]}


def learn(node, recipes, run):
    """Run programs until the daemon has learned so many. On a busy machine an answer may come too late."""
    for _ in range(LEARN_TIMES):
        run()
        node.settle()
        if len(node.status()["recipes"]) >= recipes:
            return
    raise session.SessionError(f"fewer than {recipes} programs were recorded")


def learn_server(node, client, server="server", folder="connect"):
    """The daemon learns a server and a client, of these names."""

    def once():
        with Server(node, "warm", name=server, folder=folder) as running:
            node.run(command(node, client, running.port, folder, n=1), "warm")

    learn(node, len(node.status()["recipes"]) + 2, once)


def free_port(n=1):
    """The first of `n` ports in a row that nobody uses, and that no outgoing connection gets by itself."""
    while True:
        first = random.randrange(LEAST_PORT, int(OUTGOING_PORTS.read_text().split()[0]) - n)
        with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
            for port in range(first, first + n):
                stack.enter_context(socket.socket()).bind(("", port))
            return first
