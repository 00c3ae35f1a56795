# SPDX-License-Identifier: BSD-2-Clause
"""A modelled mlx5 device with the real libibverbs and libmlx5 (tests/standin): bench/ready.c, real programs, and
bench/standin_datapath.c. The model defines how long each command takes."""

import contextlib
import functools
import json
import os
import socket
import struct
import subprocess
import time

import session

from . import pairs, warm
from .results import figures, row

MODES = ("plain", "warm")
KINDS = {"rc": "rc_init", "ud": "ud_rts", "dci": "dci_rts", "dct": "dct_rtr"}
LISTING = "get_device_list"
CARRIED = 2000
LEARN_SECONDS = 20
RECORD_SECONDS = 0.5
REST_SECONDS = 0.05
# What a lease can save. The rest concerns the program's own memory, its peer, its queries, and its end.
LEASABLE = (
    "CREATE_UCTX",
    "ALLOC_TRANSPORT_DOMAIN",
    "QUERY_SPECIAL_CONTEXTS",
    "QUERY_HCA_CAP",
    "ALLOC_UAR",
    "ALLOC_PD",
    "CREATE_CQ",
    "CREATE_RMP",
    "CREATE_QP",
    "RST2INIT_QP",
)


def times(suffix, products, runs):
    rows = []
    for kind, name in KINDS.items():
        command = [products.bench("ready"), kind]
        with learnt(products, command) as node, beside():
            samples = warm.interleave(node, runs, lambda mode: figures(rested(node).run(command, mode)), MODES)
            check_served(node)
        rows.append(timed(f"{name}{suffix}", samples, to_ready))
        if kind == "rc":
            rows.append(timed(f"{name}_with_list{suffix}", samples, lambda sample: sum(sample.values())))
    return rows


times_a = functools.partial(times, "_a")
times_b = functools.partial(times, "_b")
times_zero = functools.partial(times, "_zero")


@contextlib.contextmanager
def learnt(products, command):
    """A node that has recorded this command and no other."""
    with warm.node(products, []) as node:
        session.wait_until(lambda: is_learnt(node, command), LEARN_SECONDS, lambda: "nothing was recorded")
        yield node


def is_learnt(node, command):
    """Whether the run was recorded. On a busy machine the daemon's first answer may come too late."""
    node.run(command, "warm")
    time.sleep(RECORD_SECONDS)
    return bool(node.status()["recipes"])


def rested(node):
    """The wait for a lease after a warm run lets caches cool down before the plain run, so all runs wait that long."""
    time.sleep(REST_SECONDS)
    return node


@contextlib.contextmanager
def beside():
    """A program that keeps the device open. Opening a device that is open already costs one more firmware command;
    otherwise a waiting lease would impose that command on each plain run only."""
    process = start(["ibv_asyncwatch"])
    try:
        session.wait_until(lambda: ask("objects")["contexts"], LEARN_SECONDS, lambda: "the device is not opened")
        yield
    finally:
        process.terminate()
        process.communicate()


def check_served(node):
    """Check that every run in mode warm was answered from leases alone."""
    counters = [recipe["counters"] for recipe in node.status()["recipes"]]
    if len(counters) != 1 or counters[0]["misses"] or counters[0]["diverged"]:
        raise session.SessionError(f"not everything came from leases: {counters}")


def timed(name, samples, total):
    values = {mode: [total(each) / 1000 for each in samples[mode]] for mode in MODES}
    return row(name, **values, detail={mode: by_verb(samples[mode]) for mode in MODES}, quartiles=spread(values))


def to_ready(sample):
    return sum(spent for verb, spent in sample.items() if verb != LISTING)


def by_verb(samples):
    """Medians, in microseconds."""
    return {verb: row(verb, plain=[each[verb] / 1000 for each in samples])["plain"] for verb in samples[0]}


def spread(values):
    return {mode: [sorted(each)[len(each) * part // 4] for part in (1, 3)] for mode, each in values.items()}


def carrying(products, _):
    """What the stand-in adds to each system call that it emulates: its kernel is another process."""
    output = session.finish(start([products.bench("standin_rpc"), CARRIED]))
    return [
        row(f"stand-in itself, {name}", plain=[spent / 1000], runs=CARRIED) for name, spent in figures(output).items()
    ]


def start(command):
    """Start a program without warmverbs and, unlike in a node, without waiting leases."""
    return subprocess.Popen(
        [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )


def ask(*words, env=None):
    """The answer of the stand-in to a control command, of the node whose environment that is."""
    command = [os.environ["STANDIN_HCA"], "ctl", *words]
    return json.loads(subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True).stdout)


def pid():
    """The process that plays kernel and adapter; None without the stand-in."""
    path = os.environ.get("STANDIN_SOCKET")
    if not path:
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as each:
        each.connect(path)
        return struct.unpack("3i", each.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))[0]


def counts():
    """What each process did since the last query: {pid: {"firmware": {name: times}, "commands": ...}}."""
    return ask("counts", "--reset")


def firmware(process):
    """Wait for the process to end; {name: times} of its firmware commands, and its output."""
    output = session.finish(process)
    return counts().get(str(process.pid), {}).get("firmware", {}), output


def commands(products, runs):
    return [commands_of_kind(products, runs, kind) for kind in KINDS]


def commands_of_kind(products, runs, kind):
    plain = commands_by_verb(products, kind)
    command = [products.bench("ready"), kind]
    with learnt(products, command) as node:
        samples = warm.interleave(node, runs, lambda mode: firmware(node.start(command, mode))[0], ("warm",))["warm"]
        check_served(node)
    totals = {"plain": [total(plain)], "warm": [sum(each.values()) for each in samples]}
    return row(KINDS[kind], **totals, detail={"plain": plain, "warm": samples[-1]})


def total(by_verb_):
    return sum(sum(each.values()) for each in by_verb_.values())


def commands_by_verb(products, kind):
    """{verb: {name: times}}: how many more a program issues that ends after the verb than one that ends before it."""
    command = [products.bench("ready"), kind]
    counts()
    _, output = firmware(start(command))
    result, before = {}, {}
    for verb in figures(output):
        until, _ = firmware(start([*command[:1], "-u", verb, kind]))
        result[verb] = {name: times - before.get(name, 0) for name, times in until.items()}
        result[verb] = {name: times for name, times in result[verb].items() if times}
        before = until
    return result


def real_programs(products):
    return (
        pairs.pair("ibv_rc_pingpong", "-g", "GID", "-n", "10"),
        pairs.pair("ibv_ud_pingpong", "-g", "GID", "-n", "10"),
        pairs.pair("ibv_srq_pingpong", "-g", "GID", "-n", "10"),
        pairs.pair("ib_write_lat", "-x", "GID", "-n", "5", "-F"),
        pairs.pair("ib_send_bw", "-x", "GID", "-n", "10", "-F"),
        pairs.pair(str(products.dc_pingpong), "-g", "GID", "-n", "10"),
    )


def commands_of_programs(products, _):
    """Firmware commands of the client, from start to end."""
    with warm.node(products, []) as node:
        return [commands_of_program(node, which) for which in real_programs(products)]


def commands_of_program(node, which):
    pairs.run(node, which, "warm")  # Recorded.
    lists = {}
    for mode in MODES:
        node.settle()
        counts()
        processes = pairs.start(node, which, mode)
        session.finish(processes["server"])
        lists[mode], _ = firmware(processes["client"])
    leasable = {mode: sum(lists[mode].get(name, 0) for name in LEASABLE) for mode in MODES}
    return row(
        f"{which.title}, start to end",
        **{mode: [sum(lists[mode].values())] for mode in MODES},
        of_leases=leasable,
        note="opening, creating or to INIT: {plain} plain, {warm} warm".format(**leasable),
        detail=lists,
    )


def datapath(products, runs):
    command = [products.bench("standin_datapath")]
    with learnt(products, command) as node:
        samples = warm.interleave(node, runs, lambda mode: figures(node.run(command, mode)), MODES)
        check_served(node)
    times_ = samples["plain"][0]["times"]
    return [
        row(name, **{mode: [each[name] / times_ for each in samples[mode]] for mode in MODES})
        for name in samples["plain"][0]
        if name != "times"
    ]
