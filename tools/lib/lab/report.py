# SPDX-License-Identifier: BSD-2-Clause
"""The lab's messages, its exit codes, and the exceptions that carry them."""

import sys

EXIT_TIMEOUT = 124
EXIT_LAB_FAILED = 125
EXIT_SIGNAL_BASE = 128


class LabError(Exception):
    """The lab itself failed; the text says how and, where there is one, the remedy."""


class GuestError(LabError):
    """The guest failed; its console may say why."""


class NotReady(GuestError):
    def __init__(self, seconds):
        super().__init__(f"the guest was not ready after {seconds} s")


class Ended(Exception):
    """The run was ended from outside: a signal or the time limit."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class TimedOut(Ended):
    def __init__(self, seconds):
        super().__init__(EXIT_TIMEOUT, f"the command did not end within {seconds} s")


def warn(message):
    print(f"lab: {message}", file=sys.stderr, flush=True)


class Progress:
    """Lines for long steps; silent with --quiet."""

    quiet = False

    @classmethod
    def say(cls, message):
        if not cls.quiet:
            warn(message)
