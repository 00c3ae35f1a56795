# SPDX-License-Identifier: BSD-2-Clause
"""What the soak runs on: the stand-in, or soft-RoCE. Each bed says what there is to run, and what exists of objects."""

import json
import os
import pathlib
import shutil
import subprocess

from suite import places, resources

from . import programs

OTHERS = (2001, 2002, 65534)
OWN = os.geteuid()
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("WARMVERBS_", "MLX", "HUGE_", "LD_PRELOAD", "PYTHON"))}
RETURN_SECONDS = 60
CONNECTED = "03"  # in /proc/net/unix


class Bed:
    """@users: uids that programs run as. @at_once: jobs."""

    eaters = programs.EATERS
    storms = programs.STORMS

    def __init__(self):
        self.users = (OWN, *OTHERS) if OWN == 0 else (OWN,)

    def libraries(self):
        """What is preloaded besides warmverbs."""
        return []

    def connections(self):
        """How many descriptors of programs are the bed's own."""
        return 0


def ctl(word):
    return [os.environ["STANDIN_HCA"], "ctl", word]


class StandIn(Bed):
    name = "standin"
    at_once = 6
    programs = programs.STANDIN_PROGRAMS
    address = "127.0.0.1"

    def __init__(self):
        super().__init__()
        self._library = os.environ["LD_PRELOAD"].split()[-1]

    def publish(self, folder):
        """Copies what other users must be able to read."""
        self._library = str(shutil.copy(self._library, folder))

    def libraries(self):
        return [self._library]

    def connections(self):
        """Each thread that asked the stand-in for something has one."""
        lines = pathlib.Path("/proc/net/unix").read_text(encoding="utf-8", errors="replace").splitlines()
        words = (line.split() for line in lines)
        return sum(w[5:6] + w[7:] == [CONNECTED, os.environ["STANDIN_SOCKET"]] for w in words)

    def objects(self):
        out = subprocess.run(ctl("objects"), env=CLEAN, check=True, capture_output=True, timeout=60).stdout
        return json.loads(out)

    def remove(self):
        """Returns the removal. All objects end, whoever uses them."""
        return subprocess.Popen(ctl("remove"), env=CLEAN, stdout=subprocess.DEVNULL)

    def come_back(self):
        return subprocess.run(ctl("return"), env=CLEAN, check=True, stdout=subprocess.DEVNULL).returncode == 0


class SoftRoce(Bed):
    name = "rxe"
    at_once = 2  # the machine is emulated
    programs = programs.RXE_PROGRAMS

    def __init__(self):
        super().__init__()
        self.address = places.address()
        self._netdev = places.netdev()

    def publish(self, folder):
        pass

    def objects(self):
        return resources.counts()

    def remove(self):
        """Returns the removal, which waits until nobody has the device open."""
        return subprocess.Popen(["rdma", "link", "delete", places.DEVICE])

    def come_back(self):
        subprocess.run(["rdma", "link", "add", places.DEVICE, "type", "rxe", "netdev", self._netdev], check=True)
        return resources.until(places.has_address, RETURN_SECONDS)


BEDS = {"standin": StandIn, "rxe": SoftRoce}


def published(folder, build, root):
    """Copies of the programs that all users can read, and of a malformed client."""
    target = pathlib.Path(folder, "published")
    target.mkdir()
    target.chmod(0o755)
    tests = build.folder / "tests" / "programs"
    files = [*(path for path in tests.iterdir() if path.is_file()), build.library, build.command,
             build.folder / "docs" / "examples" / "example_pool", pathlib.Path(__file__).with_name("hostile.py"),
             root / "tests" / "support" / "wire.py"]
    for path in files:
        shutil.copy(path, target / path.name)
    return target
