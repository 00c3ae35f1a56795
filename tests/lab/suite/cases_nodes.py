# SPDX-License-Identifier: BSD-2-Clause
"""Programs on two nodes, each with a daemon of its own: with warmverbs they do what they do without. The nodes are in
one machine (nodes.py), or there are two (machines.py)."""

from support import trace

from . import cases_programs, machines
from .cases_programs import command, run_pair, warm_at_last
from .lab import listening
from .report import Case, require, require_equal

TOPIC = "nodes"

NAMES = ["ibv_rc_pingpong", "rping"]
# Between two emulated machines on a busy host, acknowledgements may take longer than ib_send_bw waits for them. When
# soft-RoCE of Linux 6.1 then sends a long message again, both sides may fail, without warmverbs too.
if not machines.are_here():
    NAMES += ["ib_write_lat", "ib_send_bw"]
PAIRS = [pair for pair in cases_programs.PAIRS if pair.name in NAMES]


def across(pair):
    """A server on one node and its client on the other: plainly, recorded, and with leases on both."""
    def run(nodes):
        nodes.join()
        warm_at_last(nodes, lambda warm: run_pair(nodes, pair, (warm, warm)), [0, 0], pair.kernel)
    return run


def serves_its_own_device(nodes):
    """A daemon with the option devices: programs on another device use plain verbs, and status says why."""
    here, there = nodes.join()
    nodes.start_daemon()
    [device] = [each for each in here.daemon.status()["devices"] if each["name"] == there.port.device]
    require_equal(device["unleased_because"], "the option devices leaves it out", "what status says")
    words = command(PAIRS[0].server, there.port.device)
    for _ in range(2):
        for result in here.pair(words, [*words, there.host], (True, True), listening(18515)):
            require_equal(result.status, 0, "exit status")
            require(trace.opens(result.events, trace.KERNEL), "the device was not opened plainly")
            require_equal(trace.opens(result.events, trace.ADOPTED), [], "leases")
        here.settle()


def cases():
    yield from (Case(TOPIC, pair.name, across(pair), nodes=2) for pair in PAIRS)
    if not machines.are_here():  # They have one device each.
        yield Case(TOPIC, "a daemon leases only what devices names", serves_its_own_device, nodes=2)
