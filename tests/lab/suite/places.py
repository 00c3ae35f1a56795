# SPDX-License-Identifier: BSD-2-Clause
"""Paths of what is built, and of the device."""

import functools
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEVICE = os.environ.get("LAB_DEVICE", "rxe0")
NODES = pathlib.Path("/dev/infiniband")
OTHER_USER = 65534
OTHER_GROUP = "nogroup"


class Build:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.preload = self.folder / "src/preload/libwarmverbs.so.0"
        self.command_line = self.folder / "src/cli/warmverbs"
        self.daemon = pathlib.Path(os.environ.get("WARMVERBS_TEST_DAEMON",
                                                  self.folder / "src/daemon/warmverbsd"))
        self.programs = self.folder / "tests/programs"
        self.kernel_tests = self.folder / "tests/kernel"

    def program(self, name):
        return str(self.programs / name)

    def publish(self, folder):
        """Copies what other users run to folder, and uses the copies: they may be unable to read the checkout."""
        files = [self.preload, self.command_line, *(path for path in self.programs.iterdir() if path.is_file())]
        for path in files:
            shutil.copy2(path, folder / path.name)
        self.preload = folder / self.preload.name
        self.command_line = folder / self.command_line.name
        self.programs = folder

    def missing(self):
        return [str(path) for path in (self.preload, self.daemon, self.programs) if not path.exists()]


def node():
    """The device node of DEVICE."""
    folder = pathlib.Path(f"/sys/class/infiniband/{DEVICE}/device/infiniband_verbs")
    names = [path.name for path in folder.glob("uverbs*")] or [
        path.name for path in pathlib.Path("/sys/class/infiniband_verbs").glob("uverbs*")
        if (path / "ibdev").read_text().strip() == DEVICE]
    return NODES / names[0]


def netdev():
    """The network device under DEVICE."""
    return pathlib.Path(f"/sys/class/infiniband/{DEVICE}/ports/1/gid_attrs/ndevs/0").read_text().strip()


def has_address():
    """Whether the device has its IPv4 GID."""
    path = pathlib.Path(f"/sys/class/infiniband/{DEVICE}/ports/1/gids/1")
    return path.exists() and path.read_text().strip() != ":".join(["0000"] * 8)


@functools.cache
def address():
    """The IPv4 address of the network device under DEVICE."""
    out = subprocess.run(["ip", "-4", "-oneline", "address", "show", "dev", netdev()],
                         capture_output=True, text=True, check=True).stdout
    return out.split()[3].split("/")[0]


def as_other_user(command):
    """The command, run by an unprivileged user."""
    return ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_GROUP}", "--clear-groups", *command]
