# SPDX-License-Identifier: BSD-2-Clause
"""Real programs: with warmverbs they do what they do without."""

import re
import shutil
import subprocess
from dataclasses import dataclass, field

from support import trace

from . import places
from .lab import accepting, device_options, listening, same
from .report import Case, Skip, require, require_equal

TOPIC = "program"


@dataclass(frozen=True)
class Pair:
    """A server and its client. HOST in the arguments is the address of the device."""
    name: str
    server: list
    client: list
    ready: object
    unsupported: str = ""  # why it can't run; then it must fail in the same way with warmverbs
    endless: bool = False  # the server does not end by itself
    mixed: bool = False  # with warmverbs on one side alone, too: once for each way to connect, and each kind of QP
    # What an adopting run still makes in the kernel, by program; None: timing decides.
    kernel: dict | None = field(default_factory=dict)


def pingpong(name, *options, **more):
    command = [f"ibv_{name}_pingpong", *device_options(), "-n", "100", *options]
    return Pair(" ".join([command[0], *options]), command, [*command, "HOST"], listening(18515), **more)


# 4.096 us * 2^18, 1 s: perftest's own 67 ms are over, seven times, before an emulated server has its processor again.
PATIENT = ("-u", "18")


# Not 64 KiB: an emulated machine is slow at packets.
SMALL = ("-s", "4096")


def perftest(name, *options, **more):
    small = SMALL if name in ("write_bw", "read_bw", "send_bw") and "UD" not in options else ()
    command = [f"ib_{name}", *device_options("-x"), "-F", "-n", "100", *small, *PATIENT, *options]
    ready = accepting if "-R" in options else listening(18515)
    return Pair(" ".join([command[0], *options]), command, [*command, "HOST"], ready, **more)


def rdmacm(name, server, client, **more):
    return Pair(name, server, client, accepting, **more)


# Which of server and client run with warmverbs.
BOTH_SIDES = ((True, True),)
ONE_SIDE = ((True, False), (False, True))

PAIRS = [
    pingpong("rc", mixed=True),
    pingpong("rc", "-e"),
    pingpong("rc", "-c"),
    pingpong("rc", "-N"),
    pingpong("rc", "-t", unsupported="no completion timestamps"),
    pingpong("rc", "-o", unsupported="no on-demand paging"),
    pingpong("uc", mixed=True),
    pingpong("uc", "-e"),
    pingpong("ud", mixed=True),
    pingpong("ud", "-e"),
    pingpong("srq", mixed=True),
    pingpong("srq", "-e"),
    pingpong("xsrq", unsupported="no XRC"),
    perftest("write_lat"),
    perftest("read_lat"),
    perftest("send_lat"),
    perftest("atomic_lat"),
    perftest("write_bw"),
    perftest("read_bw"),
    perftest("send_bw"),
    perftest("atomic_bw"),
    perftest("send_lat", "-e"),
    perftest("send_bw", "-e"),
    perftest("write_bw", "-e", unsupported="perftest has no events for writes"),
    perftest("write_bw", "-q", "4", mixed=True),
    perftest("send_bw", "-q", "4"),
    perftest("send_bw", "--use-srq"),
    perftest("send_lat", "--use-srq"),
    perftest("send_lat", "-c", "UD"),
    perftest("send_bw", "-c", "UD"),
    perftest("write_lat", "-c", "UC"),
    perftest("write_lat", "-R"),
    perftest("send_bw", "-R", mixed=True),
    rdmacm("rping", ["rping", "-s", "-a", "HOST", "-C", "10", "-v", "-V"],
           ["rping", "-c", "-a", "HOST", "-C", "10", "-v", "-V"], mixed=True),
    rdmacm("ucmatose", ["ucmatose"], ["ucmatose", "-s", "HOST"]),
    rdmacm("udaddy", ["udaddy"], ["udaddy", "-s", "HOST"], mixed=True),
    # It queries its queue pair before librdmacm moves it to INIT for the second time.
    rdmacm("rdma_server", ["rdma_server"], ["rdma_client", "-s", "HOST"], kernel={"rdma_server": ["init"]},
           mixed=True),
    rdmacm("rstream", ["rstream", "-S", "64", "-C", "10"],
           ["rstream", "-s", "HOST", "-S", "64", "-C", "10"]),
]
CMTIME = rdmacm("cmtime", ["cmtime"], ["cmtime", "-s", "HOST", "-c", "10"], endless=True, kernel=None)

SINGLE = [["ibv_devices"], ["ibv_devinfo", "-v"], ["ibv_devinfo", "-l"]]


def command(words, device=places.DEVICE, host=None):
    if not shutil.which(words[0]):
        raise Skip(f"{words[0]} is not installed")
    known = {"HOST": host or places.address(), places.DEVICE: device}
    return [known.get(word, word) for word in words]


def run_pair(lab, pair, warm):
    words = zip((pair.server, pair.client), lab.devices)
    server, client = (command(program, device, lab.host) for program, device in words)
    return lab.pair(server, client, warm, pair.ready, pair.endless)


def check_adopted(results, kernel):
    """Checks that everything was made ahead of time that can be."""
    for result in results:
        require(trace.opens(result.events, trace.ADOPTED), f"{result.command} got no lease")
        if kernel is not None:
            program = result.command.split()[0]
            require_equal(trace.made(result.events, trace.KERNEL), kernel.get(program, []),
                          f"what {result.command} makes in the kernel")


def compare(plain, warm):
    for a, b in zip(plain, warm):
        same(a, b)


def plain_and_recorded(lab, run, statuses):
    """The results of run(False), which has the exit statuses, if not None; those of run(True) are the same."""
    plain = run(False)
    if statuses is not None:
        require_equal([result.status for result in plain], statuses, "exit statuses without warmverbs")
    lab.start_daemon()
    compare(plain, lab.run_answered(lambda: run(True)))
    return plain


def warm_at_last(lab, run, statuses, kernel):
    """And the results with leases are the same too."""
    plain = plain_and_recorded(lab, run, statuses)
    results = lab.run_leased(lambda: run(True))
    compare(plain, results)
    check_adopted(results, kernel)


def both_ways(pair):
    def run(lab):
        statuses = None if pair.unsupported else [-15 if pair.endless else 0, 0]
        plain = plain_and_recorded(lab, lambda warm: run_pair(lab, pair, (warm, warm)), statuses)
        if pair.unsupported:
            return
        for warm in BOTH_SIDES + (ONE_SIDE if pair.mixed else ()):
            results = lab.run_leased(lambda warm=warm: run_pair(lab, pair, warm))
            compare(plain, results)
            check_adopted([result for result, is_warm in zip(results, warm) if is_warm], pair.kernel)
    return run


def alone(words):
    def run(lab):
        plain = lab.run(command(words))
        require_equal(plain.status, 0, "exit status without warmverbs")
        lab.start_daemon()
        for _ in range(2):
            same(plain, lab.run(command(words), warm=True), "exact")
            lab.daemon.settle()
    return run


def lists_in_vain(lab):
    """UCX lists devices several times before it opens one. It gets leases all the same, in every run but the first,
    and none is lost: those that are not handed out are there."""
    words = command(["ucx_info", "-d"])
    build = subprocess.run(["ucx_info", "-b"], capture_output=True, text=True, check=True).stdout
    if not re.search(r"uct_MODULES .*:ib\b", build):
        raise Skip("this UCX was built without verbs, as that of Debian sid")
    plain = lab.run(words)
    lab.start_daemon()
    same(plain, lab.record(words))
    pooled = lab.daemon.await_leases()
    for _ in range(3):
        [result] = lab.run_leased(lambda: [lab.run(words, warm=True)])
        same(plain, result)
        require(trace.opens(result.events, trace.ADOPTED), "no lease")
        require_equal(trace.opens(result.events, trace.KERNEL), [], "opens without a lease")
        lab.daemon.await_leases(pooled)


def cmtime(lab):
    """The one with threads connects without queue pairs in the end, and is rejected, without warmverbs too."""
    usage = subprocess.run(command(["cmtime", "-h"]), capture_output=True, text=True, check=False)
    if "num_threads" in usage.stdout + usage.stderr:
        raise Skip("this cmtime does not run on soft-RoCE")
    both_ways(CMTIME)(lab)


def set_link(netdev, state):
    subprocess.run(["ip", "link", "set", "dev", netdev, state], check=True)


def watch(lab, warm):
    """What ibv_asyncwatch prints for a port that goes down and up."""
    running = lab.start(command(["stdbuf", "-oL", "ibv_asyncwatch"]), warm, name="asyncwatch")
    running.await_text("FD")
    netdev = places.netdev()
    set_link(netdev, "down")
    try:
        running.await_text("PORT_ERR")
    finally:
        set_link(netdev, "up")
    running.await_text("PORT_ACTIVE")
    return running.terminate()


def asyncwatch(lab):
    plain = watch(lab, False)
    lab.start_daemon()
    for _ in range(2):
        same(plain, watch(lab, True))


LOADED = {"": "that loads libibverbs", "d": "that loads libibverbs with RTLD_DEEPBIND"}


def loaded(mode):
    """A program that is not linked with libibverbs (tests/programs/loaded_verbs.c)."""
    def test(lab):
        words = ("open pd cq srq qp:rc,srq move:init,rtr,rts traffic"
                 " destroy:qps destroy:cqs destroy:srq destroy:pd close").split()
        command, env = [lab.build.program("words-loaded"), *words], {"LOADED_MODE": mode}
        plain = lab.run(command, env=env)
        require(plain.status == 0, f"it fails without warmverbs: {plain.err}")
        lab.start_daemon()
        lab.record(command, env)
        [second] = lab.run_leased(lambda: [lab.run(command, warm=True, env=env)])
        same(plain, second)
        require(trace.opens(second.events, trace.ADOPTED), "there was no lease")
        require(not trace.made(second.events, trace.KERNEL), "not all was adopted: "
                f"{trace.made(second.events, trace.KERNEL)}")
    return test


def cases():
    return ([Case(TOPIC, pair.name, both_ways(pair)) for pair in PAIRS] +
            [Case(TOPIC, " ".join(words), alone(words)) for words in SINGLE] +
            [Case(TOPIC, f"words, {how}", loaded(mode)) for mode, how in LOADED.items()] +
            [Case(TOPIC, "cmtime", cmtime), Case(TOPIC, "ucx_info -d", lists_in_vain),
             Case(TOPIC, "ibv_asyncwatch", asyncwatch)])
