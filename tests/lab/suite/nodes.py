# SPDX-License-Identifier: BSD-2-Clause
"""Two nodes in this machine: each has a device, a daemon that serves only that device, and programs; packets go from
one device to the other (support/joined.py)."""

import contextlib

from support import joined

from . import resources
from .lab import Lab, serve
from .report import require


class Side(Lab):
    """One of the nodes."""

    def __init__(self, build, folder, port, peer):
        self.port = port
        self.devices = (port.device, port.device)
        self._places = {"LAB_DEVICE": port.device, "LAB_ADDRESS": port.address, "LAB_PEER_ADDRESS": peer.address}
        super().__init__(build, folder, self.objects())

    @property
    def host(self):
        return self.port.address

    def objects(self):
        return resources.counts(self.port.device)

    def start_daemon(self, options=(), prefix=()):
        return super().start_daemon(("--devices", self.port.device, *options), prefix)

    def environment(self, warm, trace_path=None, extra=None):
        return super().environment(warm, trace_path, self._places | (extra or {}))


class Nodes(Lab):
    """A lab whose servers run on one side, and the clients on the other."""

    def __init__(self, build, folder, base):
        super().__init__(build, folder, base)
        self.sides = ()

    def join(self):
        """Makes the devices; call it first."""
        a, b = self._at_end.enter_context(joined.joined())
        self.devices = (a.device, b.device)
        self.sides = (Side(self.build, self.folder / "a", a, b), Side(self.build, self.folder / "b", b, a))
        return self.sides

    @property
    def host(self):
        return self.sides[0].host

    def start_daemon(self, options=(), prefix=()):
        return [side.start_daemon(options, prefix) for side in self.sides]

    def await_full(self):
        for side in self.sides:
            side.await_full()

    def pair(self, server, client, warm, ready, endless=False):
        port = self.sides[0].port
        before = port.received()
        results = serve(self.sides, (server, client), warm, ready, endless)
        require(port.received() > before, f"{port.device} received nothing")
        return results

    def end(self):
        with contextlib.ExitStack() as ends:  # both, also if the first one fails
            for side in self.sides:
                ends.callback(side.end)

    def check_nothing_left(self):
        for side in self.sides:
            side.check_nothing_left()

    def transcript(self):
        for side in self.sides:
            yield f"node with {side.port.device}:"
            yield from side.transcript()
