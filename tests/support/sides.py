# SPDX-License-Identifier: BSD-2-Clause
"""Servers and their clients, which meet on a TCP port: programs of rdma-core, of perftest and of UCX."""

from . import bed, cases
from .ports import free_port, is_listened_to

# Firmware commands that a program with a lease does not give; nor these, where a lease goes further than INIT.
MAKING = {"CREATE_UCTX", "ALLOC_TRANSPORT_DOMAIN", "QUERY_SPECIAL_CONTEXTS", "ALLOC_UAR", "ALLOC_PD", "CREATE_CQ",
          "CREATE_RMP", "CREATE_QP", "RST2INIT_QP"}
CONNECTIONLESS = {"INIT2RTR_QP", "RTR2RTS_QP", "CREATE_DCT"}


def _try(sides, command, warm, env):
    """Results of server and client; None if another process took the port."""
    port = free_port()
    words = [*command[1:], "-p", str(port)]
    server = sides[0].start(words, warm[0], program=command[0], env=env)
    bed.until(lambda: is_listened_to(port) or server.process.poll() is not None, "the server listens")
    if server.process.poll() is not None:
        return None
    client = sides[1].start([*words, "localhost"], warm[1], program=command[0], env=env)
    results = client.finish(), server.finish()
    for result in results:
        if result.status:
            raise AssertionError(f"status {result.status}: {result.lines} {result.errors}")
    return tuple(reversed(results))


def run(sides, command, warm, env=None):
    """Runs server and client, each on its side (bed.Runs), until each that is warm has a lease; both results."""
    for _ in cases.attempts(2 * cases.PATIENCE, free=2):
        results = _try(sides, command, warm, env)
        if results and all(result.leased == is_warm for result, is_warm in zip(results, warm)):
            return results
        for side in {side for side, is_warm in zip(sides, warm) if is_warm}:
            side.await_leases()  # as many as were wanted at once lately: perhaps one
    raise AssertionError(f"not with {warm} leases: {results} {[side.daemon.log()[-2000:] for side in sides]}")
