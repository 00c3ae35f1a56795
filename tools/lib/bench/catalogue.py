# SPDX-License-Identifier: BSD-2-Clause
"""The table of benchmarks."""

import dataclasses
from collections.abc import Callable

from . import (
    accept,
    adopt,
    calibration,
    connect,
    containers,
    daemon,
    datapath,
    every_run,
    fork,
    functions,
    kvs,
    listing,
    mesh,
    overhead,
    phases,
    programs,
    registered,
    serverless,
    services,
    siege,
    standin,
    storm,
    teardown,
    template,
    transfer,
    verbs,
)
from .places import HERE, lab, on_standin
from .results import table
from .run import build

LAB = "soft-RoCE"
NATIVE = "native"
MODELLED = "stand-in, modelled"
ANY = "the device that is here"

# Where a part of a benchmark is measured.
COUNTING = lab("--count-instructions")
CLOCKED = lab("--cpus", "2")
MODEL_A = on_standin("connectx-5.15")
MODEL_B = on_standin("today")
MODEL_ZERO = on_standin("zero")
NODES_A = on_standin("connectx-5.15", nodes=2)
NODES_ZERO = on_standin("zero", nodes=2)


@dataclasses.dataclass(frozen=True)
class Bench:
    """Each part is a place (see places.py) and a function that measures there: it takes the built programs and the
    number of runs, and returns rows. verdict() makes an exit status of all rows, show() a text of the result, to which
    facts() of all rows are added."""

    name: str
    summary: str
    unit: str
    bed: str
    parts: tuple
    runs: int = 20
    verdict: Callable = lambda rows: 0
    build: Callable = build
    facts: Callable = lambda rows: {}
    show: Callable = table


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
        "real programs: commands that create, the share of runs that had them all from leases, and time to the end",
        "commands, share of runs",
        LAB,
        ((CLOCKED, every_run.measure), (COUNTING, every_run.times)),
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
        "containers",
        "containers, from their start to the first completion",
        "ms",
        LAB,
        ((COUNTING, containers.measure),),
        runs=5,
    ),
    Bench(
        "serverless",
        "functions in containers, kept, or forked, behind a web server",
        "requests/s",
        LAB,
        ((COUNTING, serverless.measure),),
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
    Bench(
        "connect",
        "a client and its server: to RTS, by verb and by command",
        "us",
        LAB,
        ((COUNTING, connect.measure),),
    ),
    Bench(
        "accept",
        "one server, clients that start, connect, read 4 KB and end",
        "connections/s",
        LAB,
        ((COUNTING, accept.counting),),
        runs=1,
    ),
    Bench(
        "kvs",
        "workers join a store that is read: until each serves, look-ups over time",
        "us",
        LAB,
        ((COUNTING, kvs.measure),),
        runs=1,
    ),
    Bench(
        "transfer",
        "one function hands bytes to another, connection included",
        "us",
        LAB,
        ((COUNTING, transfer.measure),),
        runs=5,
    ),
    Bench(
        "mesh",
        "processes that all connect to each other: until each has a message from each other",
        "ms",
        LAB,
        ((COUNTING, mesh.counting),),
        runs=1,
    ),
    Bench(
        "template",
        "programs that start from templates: to the first completion, to the end",
        "us",
        LAB,
        (
            (COUNTING, template.measure),
            (COUNTING, template.measure_python),
            (COUNTING, template.forks),
            (COUNTING, template.starts),
        ),
    ),
    Bench(
        "teardown",
        "the end of a program: destroy calls, exit, and a rolling restart",
        "us",
        LAB,
        ((COUNTING, teardown.counting),),
        runs=5,
    ),
    Bench(
        "registered",
        "registered memory of a program that starts, by wv_alloc_mr(): the call, with all pages touched, the whole start",
        "us",
        LAB,
        ((COUNTING, registered.measure),),
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
        "standin-serverless",
        "mlx5: functions in containers, kept, or forked, behind a web server",
        "requests/s",
        MODELLED,
        ((MODEL_A, serverless.measure),),
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
        "standin-connect",
        "mlx5: a client and its server: to RTS, by verb and by firmware command",
        "us",
        MODELLED,
        ((MODEL_A, connect.on_model_a), (MODEL_B, connect.on_model_b)),
    ),
    Bench(
        "standin-accept",
        "mlx5: one server, clients that start, connect, read 4 KB and end",
        "connections/s",
        MODELLED,
        ((MODEL_A, accept.on_model_a),),
        runs=3,
    ),
    Bench(
        "standin-kvs",
        "mlx5: workers join a store that is read: until each serves, look-ups over time",
        "us",
        MODELLED,
        ((MODEL_A, kvs.on_model_a),),
        runs=3,
    ),
    Bench(
        "standin-transfer",
        "mlx5: one function hands bytes to another, connection included",
        "us",
        MODELLED,
        ((MODEL_A, transfer.on_model_a), (MODEL_B, transfer.on_model_b)),
    ),
    Bench(
        "standin-mesh",
        "mlx5: processes that all connect to each other: until each has a message from each other",
        "ms",
        MODELLED,
        ((MODEL_A, mesh.on_model_a), (MODEL_B, mesh.on_model_b)),
        runs=3,
    ),
    Bench(
        "services",
        "mlx5: connected by a service, and 4 KB handed over; connections of one process",
        "us",
        MODELLED,
        (
            (NODES_A, services.on_model_a),
            (NODES_ZERO, services.on_model_zero),
            (NODES_ZERO, services.rates_on_model_zero),
        ),
        runs=50,
    ),
    Bench(
        "standin-template",
        "mlx5: programs that start from templates: to the first completion, to the end",
        "us",
        MODELLED,
        ((MODEL_A, template.on_model_a), (MODEL_A, template.python_on_model_a)),
    ),
    Bench(
        "standin-teardown",
        "mlx5: the end of a program: destroy calls, and a rolling restart",
        "us",
        MODELLED,
        ((MODEL_A, teardown.on_model_a), (MODEL_B, teardown.on_model_b)),
        runs=5,
    ),
    Bench(
        "standin-registered",
        "mlx5: registered memory of a program that starts",
        "us",
        MODELLED,
        ((MODEL_A, registered.on_model_a),),
        runs=20,
    ),
    Bench(
        "siege",
        "leases while other users attack the daemon",
        "us",
        MODELLED,
        ((MODEL_ZERO, siege.measure),),
        runs=3,
        verdict=siege.verdict,
    ),
    Bench(
        "verbs",
        "what each verb costs, without warmverbs; to send in",
        "us",
        ANY,
        ((HERE, verbs.measure),),
        runs=5,
        build=verbs.build,
        facts=verbs.facts,
        show=verbs.show,
    ),
)

BENCHES = {bench.name: bench for bench in ALL}
