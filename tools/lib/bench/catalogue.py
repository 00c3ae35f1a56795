# SPDX-License-Identifier: BSD-2-Clause
"""The table of benchmarks."""

import dataclasses

from . import (
    adopt,
    calibration,
    daemon,
    datapath,
    every_run,
    fork,
    functions,
    listing,
    overhead,
    phases,
    programs,
    siege,
    standin,
    storm,
)
from .places import HERE, lab, on_standin

LAB = "soft-RoCE"
NATIVE = "native"
MODELLED = "stand-in, modelled"

# Where a part of a benchmark is measured.
COUNTING = lab("--count-instructions")
CLOCKED = lab("--cpus", "2")
MODEL_A = on_standin("connectx-5.15")
MODEL_B = on_standin("today")
MODEL_ZERO = on_standin("zero")


@dataclasses.dataclass(frozen=True)
class Bench:
    """Each part is a place (see places.py) and a function that measures there: it takes the built programs and the
    number of runs, and returns rows."""

    name: str
    summary: str
    unit: str
    bed: str
    parts: tuple
    runs: int = 20


ALL = (
    Bench("phases", "one RC queue pair: what each verb costs up to INIT", "us", LAB, ((COUNTING, phases.measure),)),
    Bench("phases16", "the same with 16 queue pairs and an SRQ", "us", LAB, ((COUNTING, phases.measure16),)),
    Bench(
        "listing",
        "listing devices and opening one, with 1, 16 and 64 devices",
        "us",
        LAB,
        ((COUNTING, listing.measure),),
        runs=5,
    ),
    Bench("programs", "real programs: to INIT and RTS, kernel commands", "us", LAB, ((COUNTING, programs.measure),)),
    Bench(
        "warm",
        "real programs: commands that create, and the share of runs that had them all from leases",
        "commands, share of runs",
        LAB,
        ((CLOCKED, every_run.measure),),
        runs=10,
    ),
    Bench(
        "datapath",
        "work requests: post, completion, doorbell",
        "us",
        LAB,
        ((COUNTING, datapath.counting), (CLOCKED, datapath.clocked)),
    ),
    Bench(
        "overhead",
        "what the preload costs where it saves nothing: programs that end at once, and a first run",
        "us",
        LAB,
        ((HERE, overhead.start), (COUNTING, overhead.miss_path)),
    ),
    Bench("adopt", "a command answered from a lease, and requesting a lease", "ns", NATIVE, ((HERE, adopt.measure),)),
    Bench("fork", "children of a process that forks", "us", LAB, ((COUNTING, fork.measure),), runs=5),
    Bench(
        "functions",
        "functions started for a request, kept, or forked",
        "requests/s",
        LAB,
        ((COUNTING, functions.counting),),
        runs=1,
    ),
    Bench(
        "forkstorm",
        "many children at once, of a parent with registered memory",
        "us",
        LAB,
        ((COUNTING, storm.counting),),
        runs=1,
    ),
    Bench(
        "calibration",
        "what counting gets wrong: system calls natively (plain) and counted (warm)",
        "us",
        LAB,
        ((HERE, calibration.measure),),
        runs=5,
    ),
    Bench("daemon", "what a lease costs warmverbsd", "us", LAB, ((COUNTING, daemon.measure),)),
    Bench(
        "standin",
        "mlx5: each kind of queue pair, from open to ready",
        "us",
        MODELLED,
        (
            (MODEL_A, standin.times_a),
            (MODEL_B, standin.times_b),
            (MODEL_ZERO, standin.times_zero),
            (MODEL_ZERO, standin.carrying),
        ),
        runs=30,
    ),
    Bench(
        "standin-phases",
        "mlx5: phases and phases16 natively, with commands that take no time",
        "us",
        MODELLED,
        ((MODEL_ZERO, phases.on_standin),),
    ),
    Bench(
        "standin-commands",
        "mlx5: firmware commands of a program",
        "commands",
        MODELLED,
        ((MODEL_ZERO, standin.commands), (MODEL_ZERO, standin.commands_of_programs)),
        runs=3,
    ),
    Bench(
        "standin-datapath",
        "mlx5: instructions of a post and of a poll",
        "instructions",
        MODELLED,
        ((MODEL_ZERO, standin.datapath),),
        runs=3,
    ),
    Bench(
        "standin-fork",
        "mlx5: children of a process that forks",
        "us",
        MODELLED,
        ((MODEL_A, fork.on_model_a), (MODEL_B, fork.on_model_b)),
        runs=5,
    ),
    Bench(
        "standin-functions",
        "mlx5: functions started for a request, kept, or forked",
        "requests/s",
        MODELLED,
        ((MODEL_A, functions.on_model_a), (MODEL_B, functions.on_model_b)),
        runs=3,
    ),
    Bench(
        "standin-forkstorm",
        "mlx5: many children at once, of a parent with registered memory",
        "us",
        MODELLED,
        ((MODEL_B, storm.on_model_b),),
        runs=3,
    ),
    Bench(
        "siege",
        "leases while other users attack the daemon",
        "us",
        MODELLED,
        ((MODEL_ZERO, siege.measure),),
        runs=3,
    ),
)

BENCHES = {bench.name: bench for bench in ALL}
