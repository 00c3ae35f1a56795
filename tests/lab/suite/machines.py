# SPDX-License-Identifier: BSD-2-Clause
"""Two nodes, each a machine of its own (tools/lab run --nodes 2). This one starts programs on the other by lab-peer."""

import contextlib
import os
import pathlib
import subprocess

from support.joined import Port

from . import places, resources
from .daemon import Daemon
from .nodes import Nodes, Side

THERE = ["lab-peer", "run", "--"]
NAMES = ("LD_PRELOAD", "LAB_DEVICE", "LAB_ADDRESS", "LAB_PEER_ADDRESS")


def are_here():
    return "LAB_PEER_ADDRESS" in os.environ


def run_there(*words):
    subprocess.run([*THERE, *map(str, words)], check=True)


def _do(action):
    subprocess.run(["lab-peer", action], check=True)


def switch_off(side):
    """The other machine loses its power; its daemon, and all that was in its memory, is gone."""
    _do("kill")
    side.daemon = None


def reboot(side):
    """The other machine is switched off and on."""
    _do("reboot")
    side.daemon = None


@contextlib.contextmanager
def paused():
    """The other machine stands still for as long as the block lasts."""
    _do("pause")
    try:
        yield
    finally:
        _do("resume")


class FarDaemon(Daemon):
    """Runs on the other machine; the process that we see is lab-peer's."""

    def __init__(self, build, folder, options):
        super().__init__(build, folder, options, THERE)
        self._command_line = [*THERE, build.command_line]
        run_there("mkdir", "-p", folder / "state")

    def ufiles(self):
        return sum(recipe["pool"]["ready"] for recipe in self.status()["recipes"])

    def user_sockets(self):
        return 0  # of lab-peer's process

    def settle(self):
        return resources.steady(self.ufiles, 2)


class Far(Side):
    """The other machine."""

    def objects(self):
        return resources.counts(self.port.device, THERE)

    def start_daemon(self, options=(), prefix=()):
        if self.daemon is None:
            self.daemon = FarDaemon(self.build, self._socket_folder, options)
        return self.daemon.start()

    @property
    def trace_folder(self):
        """A folder that both machines see."""
        folder = pathlib.Path(os.environ["LAB_OUT"], self.folder.parent.name)
        folder.mkdir(exist_ok=True)
        return folder

    def launch(self, command, environment):
        words = [f"{name}={value}" for name, value in environment.items()
                 if name in NAMES or name.startswith("WARMVERBS_")]
        return [*THERE, "env", *words, *command], os.environ


class Machines(Nodes):
    """Servers run on this machine, and clients on the other."""

    def join(self):
        here, there = (Port("eth0", places.DEVICE, os.environ[name]) for name in ("LAB_ADDRESS", "LAB_PEER_ADDRESS"))
        self.devices = (here.device, there.device)
        self.sides = (Side(self.build, self.folder / "a", here, there), Far(self.build, self.folder / "b", there, here))
        return self.sides
