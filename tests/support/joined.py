# SPDX-License-Identifier: BSD-2-Clause
"""Two soft-RoCE devices of this machine, joined by a pair of virtual Ethernet devices, so that two nodes can be played
here: packets between their addresses, of RDMA or TCP, leave by one device and arrive by the other. Needs root."""

import contextlib
import pathlib
import subprocess
import time
from dataclasses import dataclass

GID_INDEX = "1"  # of the IPv4 address
SECONDS = 20
TABLE = "78"  # of routes; any number that nothing else uses


@dataclass(frozen=True)
class Port:
    """One end."""
    netdev: str
    device: str
    address: str

    @property
    def sysfs(self):
        return pathlib.Path("/sys/class/infiniband", self.device, "ports/1")

    def has_address(self):
        return any(c not in "0:" for c in (self.sysfs / "gids" / GID_INDEX).read_text().strip())

    def received(self):
        """How many packets of RDMA it has received."""
        return int((self.sysfs / "hw_counters/rcvd_pkts").read_text())

    def nodes(self):
        return [pathlib.Path("/dev/infiniband", path.parent.name)
                for path in pathlib.Path("/sys/class/infiniband_verbs").glob("uverbs*/ibdev")
                if path.read_text().strip() == self.device]


PORTS = (Port("veth_a", "rxe_a", "10.78.0.1"), Port("veth_b", "rxe_b", "10.78.0.2"))

# Both addresses are this machine's own, and the kernel would deliver what is sent to them without a device. So the
# table of own addresses holds for what arrives; what is sent looks first at a table that sends it across.
_LINKS = """\
link add veth_a type veth peer name veth_b
address add 10.78.0.1/24 dev veth_a
address add 10.78.0.2/24 dev veth_b
link set veth_a up
link set veth_b up
"""
_ROUTES = f"""\
rule add pref 1 iif veth_a lookup local
rule add pref 1 iif veth_b lookup local
route add 10.78.0.2 dev veth_a src 10.78.0.1 table {TABLE}
route add 10.78.0.1 dev veth_b src 10.78.0.2 table {TABLE}
rule add pref 2 lookup {TABLE}
rule add pref 3 lookup local
rule delete pref 0
"""
_DEVICES = """\
link add rxe_a type rxe netdev veth_a
link add rxe_b type rxe netdev veth_b
"""
_END = """\
rule add pref 0 lookup local
rule delete pref 1
rule delete pref 1
rule delete pref 2
rule delete pref 3
link delete veth_a
"""


@contextlib.contextmanager
def joined():
    """The two PORTS, for as long as the block lasts."""
    subprocess.run(["modprobe", "veth"], check=True)
    _batch("ip", _LINKS)
    try:
        _accept_own_addresses()
        _batch("ip", _ROUTES)
        _batch("rdma", _DEVICES)
        _await_ready()
        yield PORTS
    finally:
        _batch("ip", _END, "-force")


def _batch(program, lines, *options):
    result = subprocess.run([program, *options, "--batch", "/dev/stdin"], input=lines, text=True, capture_output=True,
                            check=False)
    if result.returncode and "-force" not in options:
        raise OSError(f"{program}: {result.stderr}")


def _accept_own_addresses():
    """From the other port."""
    for port in PORTS:
        settings = pathlib.Path("/proc/sys/net/ipv4/conf", port.netdev)
        (settings / "accept_local").write_text("1")
        (settings / "rp_filter").write_text("0")


def _await_ready():
    """Waits for the addresses, and lets all users use the devices."""
    end = time.monotonic() + SECONDS
    for port in PORTS:
        while not (port.has_address() and port.nodes()):
            if time.monotonic() > end:
                raise TimeoutError(f"{port.device} has no address after {SECONDS} s")
            time.sleep(0.01)
        for node in port.nodes():
            node.chmod(0o666)
