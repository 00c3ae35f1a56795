#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real servers and clients, with leases on both sides and on one."""

import re
import shutil
import subprocess

from support import bed, sides
from support.sides import CONNECTIONLESS, MAKING

GID, FEW = ["-g", "1"], ["-n", "30"]

# UCX puts functions of its own in place of mmap(), and the stand-in would not see what is mapped. The stand-in has no
# queues that a program creates by firmware commands (DEVX).
UCX = {"UCX_MEM_MMAP_HOOK_MODE": "none", "UCX_IB_MLX5_DEVX": "n"}


def ucx(transport):
    return ["ucx_perftest", "-t", "am_lat", "-x", transport, "-d", "mlx5_0:1", "-w", "2", *FEW]


UCX_VERSION = "1.13"  # which the stand-in answers; later ones do not take it for an adapter


def other_ucx():
    """The version of UCX if it is another one than UCX_VERSION; None if it is that, or there is none."""
    if not shutil.which("ucx_info"):
        return None
    said = subprocess.run(["ucx_info", "-v"], env=bed.CLEAN, capture_output=True, text=True, check=True).stdout
    version = re.search(r"\d+\.\d+", said)[0]
    return None if version == UCX_VERSION else version


# A program with its arguments, and the firmware commands that it must not give when it has a lease.
PROGRAMS = {
    "rc_pingpong": (["ibv_rc_pingpong", "-c", *GID, *FEW], MAKING),
    "rc_pingpong_events": (["ibv_rc_pingpong", "-c", "-e", *GID, *FEW], MAKING),
    "ud_pingpong": (["ibv_ud_pingpong", *GID, *FEW], MAKING | CONNECTIONLESS),
    "srq_pingpong": (["ibv_srq_pingpong", "-c", *GID, *FEW], MAKING),
    "write_lat": (["ib_write_lat", "-F", "-x", "1", *FEW], MAKING),
    "send_bw": (["ib_send_bw", "-F", "-x", "1", *FEW], MAKING),
    "dc_pingpong": ([bed.DC_PINGPONG, *FEW], MAKING | CONNECTIONLESS),
    "dc_pingpong_events": ([bed.DC_PINGPONG, "-e", *FEW], MAKING | CONNECTIONLESS),
    "ucx_rc": (ucx("rc_mlx5"), MAKING),
    "ucx_ud": (ucx("ud_mlx5"), MAKING | CONNECTIONLESS),
    "ucx_dc": (ucx("dc_mlx5"), MAKING | CONNECTIONLESS),
}


class Pairs(bed.Case):
    def run_pair(self, command, warm):
        return sides.run((self, self), command, warm, env=UCX)

    def check(self, command, forbidden):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        if command[0] == "ucx_perftest" and (version := other_ucx()):
            self.skipTest(f"the stand-in answers UCX {UCX_VERSION}, not {version}")
        if bed.SANITIZED and command[0] == "ucx_perftest":
            self.skipTest("sanitizers tell of races in UCX")
        self.run_pair(command, (False, False))
        for warm in ((True, True), (False, True)):
            with self.subTest(server=warm[0], client=warm[1]):
                for result in self.run_pair(command, warm):
                    given = set(bed.counts(result.pid)) & forbidden
                    self.assertEqual(given, set() if result.leased else given)
                    self.assertTrue(result.leased or given)


def add_cases():
    for name, (command, forbidden) in PROGRAMS.items():
        setattr(Pairs, f"test_{name}", lambda self, c=command, f=forbidden: self.check(c, f))


add_cases()
if __name__ == "__main__":
    bed.main()
