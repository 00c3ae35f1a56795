# SPDX-License-Identifier: BSD-2-Clause
"""TCP ports of this machine, which pairs of programs meet on."""

import contextlib
import pathlib
import socket

LISTENING = "0A"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_listened_to(port):
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError):
            for line in pathlib.Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
                _, local, _, state = line.split()[:4]
                if int(local.rpartition(":")[2], 16) == port and state == LISTENING:
                    return True
    return False
