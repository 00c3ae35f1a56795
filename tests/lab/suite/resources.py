# SPDX-License-Identifier: BSD-2-Clause
"""RDMA objects and descriptors that exist."""

import os
import pathlib
import subprocess
import time

from . import places

NODE_PREFIX = "/dev/infiniband/uverbs"
EVENTS = "anon_inode:[infinibandevent]"


def counts():
    """{"qp": 1, ...} of the device, from `rdma resource show`; {} without a device."""
    out = subprocess.run(["rdma", "resource", "show", places.DEVICE],
                         capture_output=True, text=True, check=False).stdout.split()
    return {kind: int(n) for kind, n in zip(out[2::2], out[3::2])}


def descriptors(pid):
    """What the descriptors of a process refer to."""
    targets = []
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            targets.append(os.readlink(link))
        except FileNotFoundError:
            continue
    return targets


def ufiles(pid):
    """How many uverbs files a process holds."""
    return sum(target.startswith(NODE_PREFIX) for target in descriptors(pid))


def other_descriptors(pid):
    """How many descriptors of a process are neither a uverbs file nor its events."""
    return sum(not target.startswith(NODE_PREFIX) and target != EVENTS for target in descriptors(pid))


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
