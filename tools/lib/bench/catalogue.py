"""Which benchmarks there are."""

import dataclasses

from . import adopt, daemon, datapath, overhead, phases, programs

LAB = "soft-RoCE"
NATIVE = "native"

# Where a part of a benchmark is measured.
HERE = ()
COUNTING = ("--count-instructions",)
CLOCKED = ("--cpus", "2")


@dataclasses.dataclass(frozen=True)
class Bench:
    """A part is where it is measured (HERE, or options of the lab) and a function that does it, which takes what was
    built and the number of runs, and returns rows."""

    name: str
    summary: str
    unit: str
    bed: str
    parts: tuple


ALL = (
    Bench("phases", "one RC queue pair: what each verb costs up to INIT", "us", LAB, ((COUNTING, phases.measure),)),
    Bench("phases16", "the same with 16 queue pairs and an SRQ", "us", LAB, ((COUNTING, phases.measure16),)),
    Bench("programs", "real programs: to INIT and RTS, kernel commands", "us", LAB, ((COUNTING, programs.measure),)),
    Bench(
        "datapath",
        "work requests: post, completion, doorbell",
        "us",
        LAB,
        ((COUNTING, datapath.counting), (CLOCKED, datapath.clocked)),
    ),
    Bench(
        "overhead",
        "what is paid for nothing: /bin/true, and a first run",
        "us",
        LAB,
        ((HERE, overhead.true), (COUNTING, overhead.miss_path)),
    ),
    Bench("adopt", "a command answered from a lease, and asking for one", "ns", NATIVE, ((HERE, adopt.measure),)),
    Bench("daemon", "what a lease costs warmverbsd", "us", LAB, ((COUNTING, daemon.measure),)),
)

BENCHES = {bench.name: bench for bench in ALL}
