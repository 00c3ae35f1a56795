# SPDX-License-Identifier: BSD-2-Clause
"""Tools that only some benchmarks need."""

import session
from lab import process


def check(tools, missing=()):
    """`tools` are {name: package}; besides, packages that are `missing` for certain."""
    missing = [*missing, *(package for tool, package in tools.items() if not process.find(tool))]
    if missing:
        packages = " ".join(missing)
        raise session.SessionError(f"not installed: {packages}; apt-get install --no-install-recommends {packages}")
