#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Real servers and clients, with leases on both sides and on one."""

import shutil

from support import bed
from support.ports import free_port, is_listened_to

MAKING = {"CREATE_UCTX", "ALLOC_TRANSPORT_DOMAIN", "QUERY_SPECIAL_CONTEXTS", "ALLOC_UAR", "ALLOC_PD", "CREATE_CQ",
          "CREATE_RMP", "CREATE_QP", "RST2INIT_QP"}
CONNECTIONLESS = {"INIT2RTR_QP", "RTR2RTS_QP", "CREATE_DCT"}
GID, FEW = ["-g", "1"], ["-n", "30"]

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
}


class Pairs(bed.Case):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def try_pair(self, command, warm):
        """Runs server and client; None if another process took the port."""
        words = [*command[1:], "-p", str(self.port)]
        server = self.start(words, warm[0], program=command[0])
        bed.until(lambda: is_listened_to(self.port) or server.process.poll() is not None, "the server listens")
        if server.process.poll() is not None:
            self.port = free_port()
            return None
        client = self.start([*words, "localhost"], warm[1], program=command[0])
        results = client.finish(), server.finish()
        for result in results:
            self.assertEqual(result.status, 0, result.lines + [result.errors])
        return tuple(reversed(results))

    def pair(self, command, warm):
        """Runs server and client until each side that is warm has a lease."""
        for _ in range(2 * bed.PATIENCE):
            results = self.try_pair(command, warm)
            if results and all(result.leased == is_warm for result, is_warm in zip(results, warm)):
                return results
            if any(warm):
                bed.until(lambda: self.daemon.recipes(self.name), "a recipe")
                self.daemon.await_ready(self.name)  # as many as were wanted at once lately: perhaps one
        self.fail(f"not with {warm} leases: {results} {self.daemon.log()[-2000:]}")

    def check(self, command, forbidden):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        self.pair(command, (False, False))
        for warm in ((True, True), (False, True)):
            with self.subTest(server=warm[0], client=warm[1]):
                for result in self.pair(command, warm):
                    given = set(bed.counts(result.pid)) & forbidden
                    self.assertEqual(given, set() if result.leased else given)
                    self.assertTrue(result.leased or given)


def add_cases():
    for name, (command, forbidden) in PROGRAMS.items():
        setattr(Pairs, f"test_{name}", lambda self, c=command, f=forbidden: self.check(c, f))


add_cases()
if __name__ == "__main__":
    bed.main()
