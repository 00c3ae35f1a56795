# SPDX-License-Identifier: BSD-2-Clause
"""Software iWARP beside soft-RoCE: programs of librdmacm, which alone connects there."""

import dataclasses
import os
import re
import subprocess

from support import ports, trace
from support.zygote import END, END_SRQ, INIT

from . import places, resources
from .cases_programs import BOTH_SIDES, CMTIME, ONE_SIDE, PAIRS, Pair, compare, plain_and_recorded, run_pair
from .cases_prefork import silent
from .lab import accepting, cm_listeners, same
from .more_programs import fio
from .report import Case, Skip, require, require_equal

TOPIC = "iwarp"
FLUSHED = "pull:n=1 failed: EBADMSG"  # a completion that is none of a message; without one, the word waits for ever
QUEUE_PAIRS = {"create_qp", "init"}
DEVICE = "siw0"
# On the loopback device: a server that binds no address listens at the network device of its RDMA device alone, and
# what a node sends to itself arrives there. The driver takes its GID from the address of the link, which is zero.
NETDEV, HOST, LINK_ADDRESS = "lo", "10.79.0.1", "02:00:00:00:00:01"


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def add_device():
    ip("link", "set", NETDEV, "address", LINK_ADDRESS)
    ip("address", "add", f"{HOST}/32", "dev", NETDEV)
    subprocess.run(["rdma", "link", "add", DEVICE, "type", "siw", "netdev", NETDEV], check=True)
    subprocess.run(["chmod", "666", *places.NODES.glob("uverbs*")], check=True)


def delete_device():
    subprocess.run(["rdma", "link", "delete", DEVICE], check=True)
    ip("address", "delete", f"{HOST}/32", "dev", NETDEV)


def on_iwarp(test):
    def run(lab):
        if os.environ.get("LAB") != "vm":
            raise Skip("it gives the loopback device a link address for good, so it runs only in a virtual machine")
        if subprocess.run(["modprobe", "--quiet", "siw"], check=False).returncode:
            raise Skip("this kernel has no driver for software iWARP; tools/lab prepare --siw builds it")
        add_device()
        lab.use(DEVICE, HOST, delete_device)
        test(lab)
    return run


def perftest(name, *options):
    """Without inline data: perftest asks for more than the driver takes where latency is measured."""
    inline = () if name.startswith("read") else ("-I", "0")
    words = [f"ib_{name}", "-d", places.DEVICE, "-R", "-F", "-n", "100", "-s", "1024", *inline, *options]
    return Pair(" ".join([words[0], "-R", *options]), words, [*words, "HOST"], accepting)


NAMES = ["rping", "ucmatose", "rdma_server", "rstream"]
IWARP_PAIRS = [
    *(pair for pair in PAIRS if pair.name in NAMES),
    perftest("send_lat"),
    perftest("send_lat", "-e"),
    perftest("send_bw", "-q", "2"),
    perftest("write_lat"),
    perftest("write_bw"),
    perftest("read_lat"),
    fio("--verb=write", "--rw=write", "--iodepth=1"),
]


def check_warm(result):
    """All is from the lease but queue pairs, which the kernel makes."""
    require(trace.opens(result.events, trace.ADOPTED), f"{result.command} got no lease")
    made = {how: trace.made(result.events, how) for how in (trace.KERNEL, trace.ADOPTED, trace.SPARE)}
    require(made[trace.ADOPTED] and set(made[trace.KERNEL]) <= QUEUE_PAIRS,
            f"what {result.command} makes in the kernel: {made[trace.KERNEL]}")
    require(not QUEUE_PAIRS & {*made[trace.ADOPTED], *made[trace.SPARE]}, "a queue pair was made ahead")


def reachable(running):
    """accepting(), and the driver's socket listens: that comes last."""
    found = (re.search(r":(\d+) ", line) for line in cm_listeners() if f"pid {running.pid} " in line)
    return any(place and ports.is_listened_to(int(place[1])) for place in found)


def with_leases(pair, sides):
    """Plainly, recorded, and with leases on each of the @sides in turn."""
    reached = dataclasses.replace(pair, ready=reachable) if pair.ready is accepting else pair

    def run(lab):
        plain = plain_and_recorded(lab, lambda warm: run_pair(lab, reached, (warm, warm)), [0, 0])
        for warm in sides:
            results = lab.run_leased(lambda warm=warm: run_pair(lab, reached, warm))
            compare(plain, results)
            for result, is_warm in zip(results, warm):
                if is_warm:
                    check_warm(result)
    return run


def cmtime(lab):
    """It makes a queue pair for each of its connections: no spares are made for them. Server and client are one
    program, so they are recorded one after the other."""
    pair = dataclasses.replace(CMTIME, ready=reachable)
    plain = run_pair(lab, pair, (False, False))
    lab.start_daemon()
    for warm in ONE_SIDE:
        def run(warm=warm):
            return run_pair(lab, pair, warm)

        compare(plain, lab.run_answered(run))
        results = lab.run_leased(run)
        compare(plain, results)
        check_warm(results[warm.index(True)])


def killed(lab):
    """The kernel moves a client's queue pair to RTS: what a signal ends then is recorded all the same."""
    def once():
        server = lab.start(["rping", "-s", "-P", "-a", HOST], name="server")
        require(resources.until(lambda: reachable(server), resources.LIMIT_S), "the server does not listen")
        client = lab.start(["stdbuf", "-oL", "rping", "-c", "-v", "-a", HOST], warm=True)
        client.await_text("ping data")
        result = client.kill()
        server.kill()
        return [result]

    lab.start_daemon()
    lab.run_answered(once)
    check_warm(*lab.run_leased(once))


def on_device(words):
    """The words of tests/programs/words, with the device opened that libibverbs lists at this place."""
    listed = subprocess.run(["ibv_devices"], capture_output=True, text=True, check=True).stdout.splitlines()
    number = next(i for i, line in enumerate(listed[2:]) if line.split()[:1] == [DEVICE])
    return words.replace("open", f"open:device={number}")


# What is recorded, and what a program then does that gets the lease.
WORDS = {
    "the same": (f"{INIT} query {END}", f"{INIT} query {END}"),
    "another CQ": (INIT, f"open pd cq:depth=1000 qp:rc move:init query {END}"),
    "RESET after INIT": (INIT, f"{INIT} move:reset query move:init query {END}"),
    "more queue pairs": (INIT, f"open pd cq qp:rc,n=4 move:init,all {END}"),
    "a shared receive queue": (f"open pd cq srq qp:rc,srq {END_SRQ}", f"open pd cq srq qp:rc,srq move:init {END_SRQ}"),
    "the PD given up at once": (INIT, "open pd destroy:pd close"),
    "a child": (INIT, f"open pd fork:exit cq qp:rc move:init {END}"),
}


def words(recorded, run):
    def test(lab):
        program = lab.build.program("words")
        once, then = ([program, *on_device(each).split()] for each in (recorded, run))
        plain = lab.run(then)
        lab.start_daemon()
        lab.record(once)
        [second] = lab.run_leased(lambda: [lab.run(then, warm=True)])
        same(plain, second, "exact")
        require(trace.opens(second.events, trace.ADOPTED), "there was no lease")
    return test


def prefork(lab):
    """A child's objects are ready, up to its queue pair."""
    silent(on_device("open pd cq"), "qp:rc move:init query", END)(lab)


def link_goes_down(lab):
    """Why no queue pair is made ahead: when the link goes down, all that there are end with it."""
    words = [lab.build.program("words"), *on_device(f"{INIT} receives:n=1 at:posted pull:n=1").split()]
    program = lab.start(words)
    program.await_text("@posted")
    ip("link", "set", NETDEV, "down")
    ip("link", "set", NETDEV, "up")
    program.proceed()
    require(FLUSHED in program.wait().out, "the receive was not flushed")


def cases():
    for pair in IWARP_PAIRS:
        sides = BOTH_SIDES + (ONE_SIDE if pair.mixed else ())
        yield Case(TOPIC, pair.name, on_iwarp(with_leases(pair, sides)))
    yield Case(TOPIC, "cmtime", on_iwarp(cmtime))
    yield Case(TOPIC, "a client that is killed once it is connected", on_iwarp(killed))
    yield from (Case(TOPIC, f"words: {name}", on_iwarp(words(*both))) for name, both in WORDS.items())
    yield Case(TOPIC, "prefork: no system call up to the queue pair", on_iwarp(prefork))
    yield Case(TOPIC, "queue pairs end when the link goes down", on_iwarp(link_goes_down))
