# SPDX-License-Identifier: BSD-2-Clause
"""What a lease costs warmverbsd: CPU time to hand it out and to make the next one, and memory while it waits."""

import os
import pathlib
import re
import time

import session

from . import warm
from .results import row

# Long enough for the program to end, so that handing out and making do not overlap.
REFILL_DELAY_MS = 500
REFILL_SECONDS = 2
# Enough leases that other changes of memory in the kernel do not matter.
TOGETHER = 24
SHAPES = {"1 QP": (), "16 QPs, SRQ": ("-q", "16", "-s")}


def measure(products, runs):
    command = [products.bench("phases")]
    rows = []
    for name, options in SHAPES.items():
        with warm.node(products, command, "--refill-delay", str(REFILL_DELAY_MS)) as node:
            rows += measure_shape(node, runs, name, [*command, *options])
    return rows


def measure_shape(node, runs, name, command):
    node.run(command, "warm")  # Recorded.
    costs = [lease_cost(node, command) for _ in range(runs)]
    return [
        row(f"hand-out, {name}", warm=[hand_out for hand_out, _ in costs]),
        row(f"making a lease, {name}", warm=[making for _, making in costs]),
        row(f"memory of a waiting lease, {name}", warm=[memory_per_lease(node, command)], unit="bytes"),
    ]


def lease_cost(node, command):
    """The daemon's microseconds for one program: to hand out and take the report, and to make the next lease."""
    node.settle()
    before = cpu(node)
    node.run(command, "warm")
    handed_out = cpu(node)
    time.sleep(REFILL_SECONDS)
    return handed_out - before, cpu(node) - handed_out


def cpu(node):
    """Microseconds that the daemon ran, in user space and in the kernel."""
    return int(pathlib.Path("/proc", str(node.daemon.pid), "schedstat").read_text().split()[0]) / 1000


def memory_per_lease(node, command):
    """Memory in the kernel and in the daemon: what is freed when the daemon closes its leases."""
    for process in [node.start(command, "warm") for _ in range(TOGETHER)]:
        session.finish(process)
    node.settle()
    leases = sum(recipe["pool"]["ready"] for recipe in node.status()["recipes"])
    before = free_memory()
    node.forget()
    node.settle()
    return (free_memory() - before) / leases


def free_memory():
    """Free bytes, including the per-CPU lists, which hold recently freed pages and which MemFree leaves out."""
    time.sleep(REFILL_SECONDS)
    kilobytes = re.search(r"MemFree: +(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]
    listed = re.findall(r"^ +count: (\d+)", pathlib.Path("/proc/zoneinfo").read_text(), re.MULTILINE)
    return 1024 * int(kilobytes) + os.sysconf("SC_PAGE_SIZE") * sum(map(int, listed))
