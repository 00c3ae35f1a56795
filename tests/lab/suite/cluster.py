# SPDX-License-Identifier: BSD-2-Clause
"""Two nodes whose daemons are peers, and connect queue pairs of programs ahead."""

import contextlib
import os
import pathlib
import subprocess

from support.authority import Authority

from . import machines, resources
from .report import Failure, require

UP_S = 20
PORT = 4818


def join(nodes):
    """Starts both daemons as peers of each other; returns the sides."""
    sides = nodes.join()
    ca = Authority(_folder(nodes))
    for side, other in zip(sides, reversed(sides)):
        start(side, other, (ca.certificate, *ca.give(f"node-{side.host}", f"IP:{side.host}")))
    for side in sides:
        await_peer(side)
    return sides


def start(side, other, files):
    """Starts the daemon of @side; @files: the CA's certificate, its own, and the key of that."""
    side.files = files
    ca, certificate, key = map(str, files)
    side.start_daemon(["--pairs", "yes", "--peers", other.host, "--peer-listen", side.host, "--peer-ca", ca,
                       "--peer-certificate", certificate, "--peer-key", key])


def has_peer(side):
    return [peer["state"] for peer in side.daemon.peers()] == ["up"]


def await_peer(side):
    """Waits until @side is connected to its peer."""
    if not resources.until(lambda: has_peer(side), UP_S, resources.ASKING_S):
        raise Failure(f"the daemons are not connected: {side.daemon.peers()}")


def await_no_peer(side):
    """Waits until the daemon of @side has noticed that its peer says nothing any more."""
    require(resources.until(lambda: not has_peer(side), UP_S, resources.ASKING_S),
            "the daemon believes that its peer is there")


@contextlib.contextmanager
def cut_off(netdev):
    """What daemons say to each other is lost for as long as the block lasts; packets of RDMA are not."""
    subprocess.run(["tc", "qdisc", "add", "dev", netdev, "clsact"], check=True)
    try:
        for end in ("dst_port", "src_port"):
            subprocess.run(["tc", "filter", "add", "dev", netdev, "ingress", "protocol", "ip", "flower",
                            "ip_proto", "tcp", end, str(PORT), "action", "drop"], check=True)
        yield
    finally:
        subprocess.run(["tc", "qdisc", "delete", "dev", netdev, "clsact"], check=True)


@contextlib.contextmanager
def poor(netdev):
    """Packets that leave by it are late, not in order, and some are lost, for as long as the block lasts."""
    subprocess.run(["modprobe", "sch_netem"], check=True)
    words = ["tc", "qdisc", "add", "dev", netdev, "root", "netem", "delay", "5ms", "3ms", "loss", "1%"]
    subprocess.run(words, check=True)
    try:
        yield
    finally:
        subprocess.run(["tc", "qdisc", "delete", "dev", netdev, "root"], check=True)


def _folder(nodes):
    """One that both nodes see."""
    folder = pathlib.Path(os.environ["LAB_OUT"], nodes.folder.name) if machines.are_here() else nodes.folder
    folder.mkdir(exist_ok=True)
    return folder
