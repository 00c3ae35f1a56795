# SPDX-License-Identifier: BSD-2-Clause
"""The real, unmodified programs that are run: a server and a client each."""

import dataclasses
import pathlib
import shutil
import subprocess
import tempfile

import session

from . import device
from .results import figures

LISTEN_SECONDS = 30
TCP_LISTEN = "0A"
SIDES = ("server", "client")


@dataclasses.dataclass(frozen=True)
class Pair:
    name: str
    server: tuple
    client: tuple  # without the server's address, which comes last
    port: int
    by_rdma_cm: bool = False

    @property
    def title(self):
        return pathlib.Path(self.name).name

    @property
    def program(self):
        return shutil.which(self.name)

    def command(self, side):
        gid, address = device.address()
        words = [self.program, *(self.server if side == "server" else (*self.client, address))]
        return [word.replace("GID", gid) for word in words]

    def listening(self):
        return rdma_listening(self.port) if self.by_rdma_cm else tcp_listening(self.port)


def pair(name, *options, port=18515):
    return Pair(name, options, options, port)


PAIRS = (
    pair("ibv_rc_pingpong", "-g", "GID", "-n", "10"),
    pair("ibv_srq_pingpong", "-g", "GID", "-n", "10"),
    pair("ib_write_lat", "-x", "GID", "-n", "5", "-F"),
    pair("ib_send_bw", "-x", "GID", "-n", "10", "-F"),
    Pair("rping", ("-s", "-C", "3"), ("-c", "-C", "3", "-a"), 7174, by_rdma_cm=True),
)


def tcp_listening(port):
    tables = [pathlib.Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    sockets = [line.split() for table in tables for line in table]
    return any(int(local.rpartition(":")[2], 16) == port and state == TCP_LISTEN for _, local, _, state, *_ in sockets)


def rdma_listening(port):
    listing = subprocess.run(["rdma", "resource", "show", "cm_id"], stdout=subprocess.PIPE, check=True).stdout.decode()
    return any("state LISTEN" in line and f":{port} " in f"{line} " for line in listing.splitlines())


def run(node, which, mode, wrap=None, preload=()):
    """Run server and client until both end, and return what they printed; see start()."""
    return {side: session.finish(process) for side, process in start(node, which, mode, wrap, preload).items()}


def start(node, which, mode, wrap=None, preload=()):
    """Start server and client; wrap(side) returns words to put before the command, and its environment. The client
    starts when the node is at rest again, so that its time includes no work done for its server."""
    processes = {}
    for side in SIDES:
        words, extra = wrap(side) if wrap else ([], {})
        processes[side] = node.start([*words, *which.command(side)], mode, preload=preload, **extra)
        if side == "server":
            session.wait_until(
                which.listening, LISTEN_SECONDS, lambda: f"{which.name} does not listen on port {which.port}"
            )
            node.settle()
    return processes


def timed(node, which, mode):
    """Nanoseconds until the first queue pair of each side was in each state."""
    with tempfile.TemporaryDirectory() as folder:
        def wrap(side):
            return [node.products.bench("stamp")], {"BENCH_TIMER": f"{folder}/{side}"}

        run(node, which, mode, wrap, preload=(node.products.timer,))
        return {side: figures(pathlib.Path(folder, side).read_text()) for side in SIDES}


def counted(node, which, mode):
    """The commands of each side that reached the kernel: {name: (times, class)}."""
    with tempfile.TemporaryDirectory() as folder:
        run(node, which, mode, lambda side: ([node.products.bench("commands"), f"{folder}/{side}"], {}))
        return {side: counts(pathlib.Path(folder, side).read_text()) for side in SIDES}


def counts(text):
    lines = [line.split(maxsplit=2) for line in text.splitlines()]
    return {name: (int(times), kind) for times, name, kind in lines if kind != "data path"}
