# SPDX-License-Identifier: BSD-2-Clause
"""An Ethernet cable between two machines of QEMU."""

import socket

from .process import LIBC

NOWHERE = bytes(2)  # a struct sockaddr of AF_UNSPEC


class Wire:
    """Two sockets, one for each machine; a frame is a datagram. A sender waits while the receiver is busy, so no frame
    is lost, until the wire is cut: then all are, and neither side is told. QEMU has copies of the sockets, which are
    connected for as long as the wire is whole."""

    def __init__(self):
        self.ends = [socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
        for end in self.ends:
            end.bind("")  # a name that nothing else has
        self.whole = False

    def set(self, whole):
        """Joins or cuts it. What is on the way when it is cut is lost, too."""
        if whole == self.whole:
            return
        self.whole = whole
        for end, other in (self.ends, self.ends[::-1]):
            if whole:
                end.connect(other.getsockname())
            else:
                LIBC.connect(end.fileno(), NOWHERE, len(NOWHERE))
