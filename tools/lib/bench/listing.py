# SPDX-License-Identifier: BSD-2-Clause
"""Listing and opening on nodes with 1, 16 and 64 devices: bench/phases.c opens the first that libibverbs lists."""

import contextlib
import subprocess

import session

from . import warm
from .phases import TO_INIT, total
from .results import figures, row

DEVICES = (1, 16, 64)
SUMS = {"list": TO_INIT[:1], "list_to_init": TO_INIT, "open_to_init": TO_INIT[1:]}


def measure(products, runs):
    return [each for n in DEVICES for each in measure_with(products, runs, n)]


def measure_with(products, runs, n):
    command = [products.bench("phases")]
    with devices(n), warm.node(products, command) as node:
        samples = warm.interleave(node, runs, lambda mode: figures(node.run(command, mode)))
    return [
        row(f"{name}_{n}", **{mode: [total(each, phases) for each in samples[mode]] for mode in session.MODES})
        for name, phases in SUMS.items()
    ]


@contextlib.contextmanager
def devices(n):
    """A node with `n` soft-RoCE devices, of which the lab has one. Each has an address, so that it has the GID that the
    program connects to."""
    with contextlib.ExitStack() as added:
        for number in range(1, n):
            netdev = f"listing{number}"
            run("ip", "link", "add", netdev, "type", "dummy")
            added.callback(run, "ip", "link", "delete", netdev)  # the RDMA device goes with it
            run("ip", "address", "add", f"10.98.{number}.1/24", "dev", netdev)
            run("ip", "link", "set", netdev, "up")
            run("rdma", "link", "add", f"rxe{number}", "type", "rxe", "netdev", netdev)
        yield


def run(*command):
    subprocess.run(command, check=True)
