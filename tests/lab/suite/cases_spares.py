# SPDX-License-Identifier: BSD-2-Clause
"""A server finds queue pairs made ahead, and serves as without them."""

from support import trace

from .lab import TRIES, same
from .report import Case, Failure, require

TOPIC = "spares"

# Threads, rounds of each, and the clients that it serves in a round (tests/programs/server.c).
SERVERS = [
    ("one thread", (1, 2, 40)),
    ("threads that fork", (4, 3, 12)),
]


def serves(threads, rounds, clients):
    def test(lab):
        words, options = [lab.build.program("server")], {"SERVER": f"{threads} {rounds} {clients}"}
        plain = lab.run(words, env=options)
        require(plain.status == 0, "the server fails without warmverbs")
        lab.start_daemon()
        lab.run(words, warm=True, env={"SERVER": "1 1 1"})
        for _ in range(TRIES):  # a server that is faster than the thread that makes spares finds none
            [warm] = lab.run_leased(lambda: [lab.run(words, warm=True, env=options)])
            same(plain, warm, "exact")
            require(trace.opens(warm.events, trace.ADOPTED), "there was no lease")
            if trace.made(warm.events, trace.SPARE):
                return
        raise Failure("there were no spares")
    return test


def cases():
    yield from (Case(TOPIC, name, serves(*options)) for name, options in SERVERS)
