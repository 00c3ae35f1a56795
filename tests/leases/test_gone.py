#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The device disappears while a daemon and a program have leases. The test kills the stand-in's server for this."""

import os
import signal
import socket
import struct

from support import bed, cases


def server():
    """The stand-in's server, as the kernel knows it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.connect(os.environ["STANDIN_SOCKET"])
        return struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


class Gone(bed.Case):
    def test_gone(self):
        words = "open pd cq srq qp:rc,srq qp:ud move:init,all at:ready"
        self.learn(words)
        for _ in cases.attempts():
            self.daemon.await_ready(self.name)
            program = self.start(words + " move:rtr,all query cq destroy:qps destroy:srq destroy:cqs close", True)
            self.assertEqual(program.reach("ready"), {})
            if self.daemon.recipes(self.name)[0]["counters"]["hits"]:
                break
            program.finish()
        os.kill(server(), signal.SIGKILL)
        result = program.finish()
        self.assertEqual((result.status, result.leased), (0, 1), result.errors)
        self.assertIn("query failed", " ".join(result.failures))

        # The daemon lives on, and new programs get the device's error.
        self.assertEqual(self.daemon.status()["devices"][0]["name"], "mlx5_0")
        warm, plain = self.run_warm("open exit"), self.run_plain("open exit")
        self.assertEqual(warm.shape(), plain.shape())
        self.assertEqual(len(plain.failures), 1)


if __name__ == "__main__":
    bed.main()
