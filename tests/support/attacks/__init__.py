# SPDX-License-Identifier: BSD-2-Clause
"""Hostile users of the daemon: each attack once, for the tests (tests/hostile) and for tools/bench siege.

    with attacks.Going([attacks.Flood(target)]):
        ...  # meanwhile, user 2002 floods

Loads are bounded.
"""

from .base import Attack, Going, Impossible, Target
from .files import BigUfile, FuseFile, LingeringSocket, NoDevice
from .floods import FLOODS, Busy, KeeperFlood, Leaving, by
from .leases import (MARK, Drain, Hoard, HoardByProxies, Honest, ManyUsers, PoolStorm, Questions, Recorder,
                     SubordinateUsers, UnreadLeases)
from .messages import Connections, Flood, Malformed, Silent, StatusStorm, UnreadRecipe, UnreadStatus

# By the names that they have in results.
ALL = {
    "linger": LingeringSocket,
    "fuse": FuseFile,
    "ufile": BigUfile,
    "no_device": NoDevice,
    "unread_status": UnreadStatus,
    "unread_recipe": UnreadRecipe,
    "unread_leases": UnreadLeases,
    "hoard": Hoard,
    "proxies": HoardByProxies,
    "drain": Drain,
    "status_storm": StatusStorm,
    "pool_storm": PoolStorm,
    "flood": Flood,
    "connections": Connections,
    "silent": Silent,
    "leaving": Leaving,
    "malformed": Malformed,
    "slow_disk": Recorder,
    "questions": Questions,
    "many_users": ManyUsers,
    "subordinate_users": SubordinateUsers,
}

__all__ = ["ALL", "FLOODS", "MARK", "Attack", "Busy", "Going", "Honest", "Impossible", "KeeperFlood", "Target",
           "by", *(each.__name__ for each in ALL.values())]
