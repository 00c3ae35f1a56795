# SPDX-License-Identifier: BSD-2-Clause
"""The pools of `warmverbs status --json`."""


def are_full(recipes):
    """Whether there are recipes, and each has as many leases as the daemon wants, at least one."""
    return bool(recipes) and all(r["pool"]["ready"] >= max(1, r["pool"]["target"]) for r in recipes)
