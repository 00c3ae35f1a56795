# SPDX-License-Identifier: BSD-2-Clause
"""Progress, on stderr."""

import sys


def say(message):
    print(f"bench: {message}", file=sys.stderr, flush=True)
