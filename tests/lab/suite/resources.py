# SPDX-License-Identifier: BSD-2-Clause
"""RDMA objects and descriptors that exist."""

import contextlib
import os
import pathlib
import subprocess
import time

from . import places

NODE_PREFIX = "/dev/infiniband/uverbs"
EVENTS = "anon_inode:[infinibandevent]"


def counts(device=places.DEVICE, prefix=()):
    """{"qp": 1, ...} of the device, from `rdma resource show`; {} without a device."""
    out = subprocess.run([*prefix, "rdma", "resource", "show", device],
                         capture_output=True, text=True, check=False).stdout.split()
    return {kind: int(n) for kind, n in zip(out[2::2], out[3::2])}


def each_of(folder, read):
    """What read() says of each file of a folder that is still there then."""
    said = []
    for file in pathlib.Path(folder).iterdir():
        with contextlib.suppress(FileNotFoundError):
            said.append(read(file))
    return said


def descriptors(pid):
    """What the descriptors of a process refer to."""
    return each_of(f"/proc/{pid}/fd", os.readlink)


def ufiles(pid):
    """How many uverbs files a process holds."""
    return sum(target.startswith(NODE_PREFIX) for target in descriptors(pid))


def watches_us(pid):
    """How many descriptors of a process refer to this one, which gets leases where it stands in for a daemon."""
    us = f"\nPid:\t{os.getpid()}\n"
    return sum(us in info for info in each_of(f"/proc/{pid}/fdinfo", pathlib.Path.read_text))


def other_descriptors(pid):
    """How many descriptors of a process are neither a uverbs file nor its events, and do not refer to this process."""
    others = sum(not target.startswith(NODE_PREFIX) and target != EVENTS for target in descriptors(pid))
    return others - watches_us(pid)


def until(condition, seconds, pause=0.02):
    """Waits for a condition; returns its last value."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)


def steady(measure, times=4, pause=0.03, seconds=10):
    """Waits until a value stays the same; returns it."""
    end = time.monotonic() + seconds
    last, same = measure(), 0
    while same < times and time.monotonic() < end:
        time.sleep(pause)
        now = measure()
        same = same + 1 if now == last else 0
        last = now
    return last
