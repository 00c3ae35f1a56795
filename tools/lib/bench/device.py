# SPDX-License-Identifier: BSD-2-Clause
"""The RDMA device to measure on: the GID index to use, and the address of that GID."""

import ipaddress
import os
import pathlib

import session

CLASS = pathlib.Path(os.environ.get("SYSFS_PATH", "/sys"), "class", "infiniband")
# The stand-in has GIDs, but is no network interface: programs find each other on this machine.
STANDIN_GID, LOOPBACK = "3", "127.0.0.1"


def name():
    found = os.environ.get("LAB_DEVICE") or next((entry.name for entry in sorted(CLASS.glob("*"))), None)
    if not found:
        raise session.SessionError("no RDMA device here; run this inside tools/lab run")
    return found


def address():
    """The index of the first RoCE v2 GID that is an IPv4 address, and that address."""
    if "STANDIN_SOCKET" in os.environ:
        return STANDIN_GID, LOOPBACK
    port = CLASS / name() / "ports" / "1"
    for entry in sorted((port / "gids").iterdir(), key=lambda path: int(path.name)):
        mapped = ipaddress.IPv6Address(entry.read_text().strip()).ipv4_mapped
        if mapped and gid_type(port, entry.name) == "RoCE v2":
            return entry.name, str(mapped)
    raise session.SessionError(f"port 1 of {name()} has no RoCE v2 GID with an IPv4 address")


def gid_type(port, index):
    try:
        return (port / "gid_attrs" / "types" / index).read_text().strip()
    except OSError:  # The kernel returns EINVAL for an unused index.
        return None
