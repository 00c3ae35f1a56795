# SPDX-License-Identifier: BSD-2-Clause
"""Progress on stderr: a line that is rewritten on a terminal, else a line now and then."""

import sys
import time

LINE_SECONDS = 30
TERMINAL_SECONDS = 0.5


class Progress:
    def __init__(self, report):
        """@report(): the line."""
        self._report = report
        self._is_terminal = sys.stderr.isatty()
        self._next = 0

    def tick(self):
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + (TERMINAL_SECONDS if self._is_terminal else LINE_SECONDS)
        end = "" if self._is_terminal else "\n"
        start = "\r\033[K" if self._is_terminal else ""
        print(f"{start}soak: {self._report()}", end=end, file=sys.stderr, flush=True)

    def end(self):
        if self._is_terminal:
            print(file=sys.stderr)
