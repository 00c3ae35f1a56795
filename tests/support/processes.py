# SPDX-License-Identifier: BSD-2-Clause
"""Processes that the tests have started."""

import os
import select
import time


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
