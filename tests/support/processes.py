# SPDX-License-Identifier: BSD-2-Clause
"""Processes that the tests have started."""

import contextlib
import os
import pathlib
import select
import time


def until(condition, what, limit_s=100):
    """Waits until a condition is true; returns its value. Looks often at first, and then leaves others the processor."""
    end, rest_s = time.monotonic() + limit_s, 0.002
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {limit_s} s: {what}")
        time.sleep(rest_s)
        rest_s = min(1.2 * rest_s, 0.02)
    return value


def children_of(pid):
    """Those of a process with one thread in the order in which they were made: numbers begin anew at some time."""
    found = []
    for children in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # that thread has ended
            found += map(int, children.read_text(encoding="ascii").split())
    return found


def is_alive(pid):
    """False for a zombie: nobody may reap orphans here."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait(process, limit_s):
    """process.wait(limit_s) that sees the end at once: that of Python looks only twenty times a second."""
    end = time.monotonic() + limit_s
    if process.poll() is None:
        pidfd = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(pidfd, select.POLLIN)
            poll.poll(1000 * limit_s)
        finally:
            os.close(pidfd)
    return process.wait(max(0, end - time.monotonic()))
