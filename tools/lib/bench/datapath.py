# SPDX-License-Identifier: BSD-2-Clause
"""Work requests: bench/datapath.c and perftest, on a descriptor that the program opened and on a leased one."""

import session

from . import pairs, warm
from .results import figures, row

NAMES = ("send_post", "send_complete", "write_post", "write_complete", "doorbell")
WALL_CLOCK = {"bed": "soft-RoCE, wall clock"}

BANDWIDTH = pairs.pair("ib_write_bw", "-x", "GID", "-F", "-s", "64", "-n", "300")
# A program that sleeps while it waits. On one CPU, a program that polls keeps its peer waiting for a time slice.
EVENT_LATENCY = pairs.pair("ib_send_lat", "-x", "GID", "-F", "-e", "-n", "100")
POLL_LATENCY = pairs.pair("ib_write_lat", "-x", "GID", "-F", "-n", "1000")


def counting(products, runs):
    command = [products.bench("datapath")]
    with warm.node(products, [*command, BANDWIDTH.program, EVENT_LATENCY.program]) as node:
        samples = warm.interleave(node, runs, lambda mode: figures(node.run(command, mode)))
        return [
            *(row(name, **{mode: [each[name] / 1000 for each in samples[mode]] for mode in samples}) for name in NAMES),
            perftest(node, runs, BANDWIDTH, "ib_write_bw, a message", message_time),
            perftest(node, runs, EVENT_LATENCY, "ib_send_lat -e", typical_latency),
        ]


def clocked(products, runs):
    """The programs that need two CPUs: their times are wall clock times, which scatter."""
    with warm.node(products, [POLL_LATENCY.program]) as node:
        return [perftest(node, runs, POLL_LATENCY, "ib_write_lat", typical_latency, **WALL_CLOCK)]


def perftest(node, runs, which, name, figure, **fields):
    """A row from the output of the client of a perftest pair."""
    samples = warm.interleave(node, runs, lambda mode: figure(pairs.run(node, which, mode)["client"]))
    return row(name, **samples, **fields)


def last_line(output):
    """The figures under perftest's heading, which begins with "#bytes"."""
    lines = output.splitlines()
    heading = next((i for i, line in enumerate(lines) if line.split()[:1] == ["#bytes"]), None)
    if heading is None:
        raise session.SessionError(f"perftest printed no result:\n{output}")
    return [float(word) for word in lines[heading + 1].split()]


def message_time(output):
    """Microseconds; perftest prints millions a second in the last column."""
    return 1 / last_line(output)[-1]


def typical_latency(output):
    return last_line(output)[4]
