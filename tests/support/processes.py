# SPDX-License-Identifier: BSD-2-Clause
"""Processes that the tests have started."""

import os
import select


def wait(process, limit_s):
    """process.wait(limit_s) that sees the end at once: that of Python looks only twenty times a second."""
    if process.poll() is None:
        pidfd = os.pidfd_open(process.pid)
        try:
            select.select([pidfd], [], [], limit_s)
        finally:
            os.close(pidfd)
    return process.wait(0)
