# SPDX-License-Identifier: BSD-2-Clause
"""Two private nodes in one machine, for benchmarks: each has a soft-RoCE device and a daemon that leases only that one.
What one device sends arrives at the other (tests/support/joined.py)."""

import contextlib
import importlib
import sys

import session
from products import ROOT


class Side(session.Node):
    """One of the nodes; `port` is a support.joined.Port, and so is the other side's, `peer`."""

    def __init__(self, products, port, peer, *options):
        super().__init__(products, "--devices", port.device, *options)
        self.port = port
        self.peer = peer

    def environment(self, mode, preload=(), **extra):
        addresses = {"LAB_ADDRESS": self.port.address, "LAB_PEER_ADDRESS": self.peer.address}
        return super().environment(mode, preload, LAB_DEVICE=self.port.device, **addresses, **extra)


@contextlib.contextmanager
def two(products, *options):
    """The two sides; `options` are those of both daemons."""
    sys.path.append(str(ROOT / "tests"))
    joined = importlib.import_module("support.joined")
    with joined.joined() as (a, b), Side(products, a, b, *options) as here, Side(products, b, a, *options) as there:
        yield here, there
