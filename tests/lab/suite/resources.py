# SPDX-License-Identifier: BSD-2-Clause
"""RDMA objects and descriptors that exist."""

import contextlib
import os
import subprocess
import time

from . import places

NODE_PREFIX = "/dev/infiniband/uverbs"
EVENTS = "anon_inode:[infinibandevent]"
MEMORY = "/memfd:warmverbs (deleted)"  # of a lease
LIMIT_S = 60  # to come to rest, on an emulated machine of a busy one
ASKING_S = 0.2  # between questions to a daemon: an emulated machine has less time for its work while it answers
PIDFDS = ("anon_inode:[pidfd]", "pidfd:")  # the latter since Linux 6.9


def counts(device=places.DEVICE, prefix=()):
    """{"qp": 1, ...} of the device, from `rdma resource show`; {} without a device."""
    out = subprocess.run([*prefix, "rdma", "resource", "show", device],
                         capture_output=True, text=True, check=False).stdout.split()
    return {kind: int(n) for kind, n in zip(out[2::2], out[3::2])}


def descriptors(pid):
    """What the descriptors of a process refer to, by their numbers."""
    folder = f"/proc/{pid}/fd"
    targets = {}
    for number in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            targets[number] = os.readlink(f"{folder}/{number}")
    return targets


def ufiles(pid):
    """How many uverbs files a process holds."""
    return sum(target.startswith(NODE_PREFIX) for target in descriptors(pid).values())


def watches_us(pid, number):
    """Whether a pidfd of a process refers to this one, which gets leases where it stands in for a daemon."""
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/fdinfo/{number}", encoding="ascii") as info:
        return f"\nPid:\t{os.getpid()}\n" in info.read()
    return False


def other_descriptors(pid):
    """How many descriptors of a process are neither a uverbs file nor its events or memory, and do not refer to this
    process."""
    held = descriptors(pid)
    others = sum(not target.startswith(NODE_PREFIX) and target != EVENTS
                 and not (target.startswith(PIDFDS) and watches_us(pid, number))
                 for number, target in held.items())
    leases = sum(target.startswith(NODE_PREFIX) for target in held.values())
    return others - min(leases, list(held.values()).count(MEMORY))


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
