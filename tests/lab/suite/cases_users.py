# SPDX-License-Identifier: BSD-2-Clause
"""Programs that come to verbs through a library which hides them: librpma, rsockets. With warmverbs they do what they
do without, and the second run has everything from leases."""

import pathlib

from . import places
from .cases_programs import Pair, run_pair, warm_at_last
from .lab import cm_listening
from .report import Case, Skip

TOPIC = "user"
LIBRARIES = pathlib.Path("/usr/lib/x86_64-linux-gnu")
RSOCKETS = LIBRARIES / "rsocket/librspreload.so"
RPMA = ["/usr/bin/python3", "-IS", str(places.ROOT / "tests/programs/rpma_read.py"), "HOST", "7204"]


def over_rsockets(*words):
    """The program, whose TCP sockets are rsockets then."""
    return ["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD {RSOCKETS}" exec "$@"', "sh", *words]


# With the files that each needs.
PAIRS = (
    ([LIBRARIES / "librpma.so.0"], Pair("librpma", [*RPMA, "server"], [*RPMA, "client"], cm_listening(7204))),
    ([RSOCKETS, pathlib.Path("/usr/bin/sockperf")],
     Pair("sockperf --tcp over rsockets", over_rsockets("sockperf", "server", "--tcp", "-i", "HOST"),
          over_rsockets("sockperf", "ping-pong", "--tcp", "-i", "HOST"), cm_listening(11111),
          unsupported="rsendto() refuses an address on a socket that is connected", endless=True)),
)


def twice_warm(files, pair):
    def run(lab):
        for file in files:
            if not file.exists():
                raise Skip(f"{file} is not installed")
        warm_at_last(lab, lambda warm: run_pair(lab, pair, (warm, warm)), None if pair.unsupported else [0, 0],
                     pair.kernel)
    return run


def cases():
    return [Case(TOPIC, pair.name, twice_warm(files, pair)) for files, pair in PAIRS]
