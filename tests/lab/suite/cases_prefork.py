# SPDX-License-Identifier: BSD-2-Clause
"""A parent that keeps sets of objects for its children: children of every kind, on soft-RoCE."""

import os
import subprocess
import time

from support import trace
from support.zygote import END, END_SRQ, INIT

from . import places, resources
from .lab import same
from .report import Case, Failure, Skip, require, require_equal

TOPIC = "prefork"
SETS = 3
REMOVAL_S = 2
PYTHON = "/usr/bin/python3"  # Debian's, which its modules are for
ANSWER = str(places.ROOT / "tests/programs/answer.py")

WORK = "move:rtr,rts,all traffic:rounds=3"
PLAIN = f"{INIT} {WORK} {END}"

# What is made ahead, what the child does with it, and how it ends.
SHAPES = {
    "RC": (INIT, WORK, END),
    "UD": ("open pd cq qp:ud move:init,rtr,rts", "traffic:rounds=3", END),
    "a shared receive queue": ("open pd cq srq qp:rc,srq move:init", WORK, END_SRQ),
    "events": ("open channel pd cq:channel qp:rc move:init", "move:rtr,rts traffic:events,rounds=3", END),
    "extended verbs": ("open pd cq:ex qp:rc,ex move:init", WORK, END),
    "8 queue pairs": ("open pd cq:depth=500 qp:rc,n=8 move:init,all", WORK, END),
}

# What the sets were made for, and what the child does that gets one.
OTHERWISE = {
    "another CQ": (INIT, f"open pd cq:depth=1000 qp:rc move:init {WORK} {END}"),
    "another QP": (INIT, f"open pd cq qp:rc,send=100 move:init {WORK} {END}"),
    "other access": (INIT, f"open pd cq qp:rc query move:init,access=7 query {WORK} {END}"),
    "more queue pairs": (INIT, f"open pd cq qp:rc,n=4 move:init,all {WORK} {END}"),
    "fewer queue pairs": ("open pd cq qp:rc,n=4 move:init,all", PLAIN),
    "a queue pair destroyed early": ("open pd cq qp:rc,n=3 move:init,all",
                                     f"open pd cq qp:rc,n=2 destroy:qp=0 move:init,all {WORK} {END}"),
    "the PD given up at once": (INIT, "open pd destroy:pd close"),
    "the CQ given up at once": (INIT, f"open pd cq destroy:cqs cq qp:rc move:init {WORK} {END}"),
    "the device closed at once": (INIT, f"open close {PLAIN}"),
    "two opens": (INIT, f"{INIT} open pd cq qp:rc,cq=1 move:init {WORK}"),
    "RTR without INIT": (INIT, f"open pd cq qp:rc move:rtr query move:init {WORK} {END}"),
    "UC instead of RC": (INIT, f"open pd cq qp:uc move:init {WORK} {END}"),
    "a shared receive queue": (INIT, f"open pd cq srq qp:rc,srq move:init {WORK} {END_SRQ}"),
    "no channel": ("open channel pd cq:channel qp:rc move:init", PLAIN),
}

ODD = {
    "exit": "exit", "exec": "exec", "crash": "crash", "closefrom": f"closefrom {PLAIN}",
    "double fork": f"daemon closefrom {PLAIN}", "crash with all": f"{INIT} {WORK} crash",
    "exec with all": f"{INIT} {WORK} exec", "forks in between": f"open fork:exit pd fork:crash cq qp:rc {END}",
}


def contexts(lab):
    """How many device files are open, without the daemon's."""
    held = lab.daemon.ufiles() if lab.daemon else 0
    return lab.objects().get("ctx", 0) - lab.base.get("ctx", 0) - held


def await_sets(started, n):
    """Waits until the zygote has @n device files and makes no more objects."""
    def there():
        return resources.ufiles(started.pid) == n and resources.steady(resources.counts, 2)
    require(resources.until(lambda: there() and resources.ufiles(started.pid) == n, 20),
            f"the zygote has {resources.ufiles(started.pid)} device files, {n} sets are wanted")


def taught(lab, words, sets=SETS, trace_it=True):
    """A zygote that has made sets for what its first child did."""
    started = lab.start_zygote(warm=True, sets=sets, trace=trace_it)
    require_equal(started.run(words).status, 0, "exit status of the first child")
    started.run("exit")  # a fork makes the zygote use what it was taught
    await_sets(started, sets)
    return started


def plainly(lab, *all_words):
    started = lab.start_zygote(warm=False)
    shapes = [started.run(words).shape for words in all_words]
    require_equal(started.end(), 0, "exit status of the zygote")
    return shapes


def check_ready(child, started, n=1):
    events = trace.opens(trace.read(started.trace_path), trace.PREFORKED)
    require_equal(sum(event.pid == child.pid for event in events), n, "opens that were ready")


def finish(lab, started):
    require_equal(started.end(), 0, "exit status of the zygote")
    require_equal(started.errors(), "", "what the zygote says")
    require(resources.until(lambda: contexts(lab) == 0, 5), "device files are still open")


def silent(before, after, end):
    def run(lab):
        words = f"silent {before} spoken {after} {end}"
        plain = plainly(lab, words)[0]
        started = taught(lab, words, trace_it=False)  # writing records would be system calls
        child = started.run(words)
        require_equal(child.shape, plain, "what the child does")
        require_equal(child.remarks("call"), ["-1"], "the first system call up to INIT")
        finish(lab, started)
    return run


def otherwise(script, words):
    def run(lab):
        plain = plainly(lab, words)[0]
        started = taught(lab, script)
        child = started.run(words)
        require_equal(child.shape, plain, "what the child does")
        check_ready(child, started)
        finish(lab, started)
    return run


def odd(words):
    def run(lab):
        plain = plainly(lab, words, PLAIN)
        started = taught(lab, PLAIN)
        for _ in range(SETS + 1):
            require_equal(started.run(words).shape, plain[0], "what the child does")
        await_sets(started, SETS)
        child = started.run(PLAIN)
        require_equal(child.shape, plain[1], "what the next child does")
        check_ready(child, started)
        finish(lab, started)
    return run


def crowd(lab, started, n):
    """Children that live at the same time: they print the same as plain ones, and share nothing."""
    words = f"{INIT} at:ready {WORK} {END}"
    children = [started.fork(words) for _ in range(n)]
    numbers = [child.reach("ready").remarks("qp")[0] for child in children]
    require_equal(len(set(numbers)), n, "different queue pairs")
    for child in children:
        child.go_on()
    require_equal([child.finish().shape for child in children], plainly(lab, PLAIN) * n, "what the children do")
    return children


def more_than_sets(lab):
    started = taught(lab, PLAIN)
    for child in crowd(lab, started, 3 * SETS)[:SETS]:
        check_ready(child, started)
    finish(lab, started)


def more_than_sets_with_leases(lab):
    lab.start_daemon()
    started = taught(lab, PLAIN)
    lab.daemon.await_leases()
    crowd(lab, started, 4 * SETS)
    require(trace.opens(trace.read(started.trace_path), trace.ADOPTED), "nobody had a lease")
    finish(lab, started)


def zygote_gone(end):
    def run(lab):
        all_words = [f"at:here {PLAIN}", f"open at:here pd cq qp:rc move:init {WORK} {END}",
                     f"{INIT} at:here {WORK} {END}", f"{INIT} {WORK} at:here traffic {END}"]
        started = taught(lab, PLAIN)
        children = [started.fork(words).reach("here") for words in all_words]
        end(started)
        for child, words in zip(children, all_words):
            child.go_on()
            expected = plainly(lab, words.replace("at:here ", ""))[0]
            require_equal(child.read().shape[1], expected[1], "what an orphan does")
    return run


def storm(lab):
    started = taught(lab, PLAIN)
    before = started.descriptors(), started.threads()
    require_equal(started.storm(300, 8, 20000, PLAIN), 0, "children that failed")
    started.run("exit")
    await_sets(started, SETS)
    require_equal((started.descriptors(), started.threads()), before, "descriptors and threads of the zygote")
    check_ready(started.run(PLAIN), started)
    finish(lab, started)


def first_files(started):
    """Of a zygote that has closed all: the device, its asynchronous events, and the channel."""
    return [os.readlink(f"/proc/{started.pid}/fd/{number}") for number in (3, 4, 5)]


def reopened(lab):
    """The zygote closes all, unseen. Its own device gets numbers of sets, whose files look the same."""
    before, after, end = SHAPES["events"]
    words = f"{before} {after} {end}"
    plain = plainly(lab, words)[0]
    started = taught(lab, words, trace_it=False)
    require_equal(started.ask("sweep", 3, 0, *before.split()), 0, "closing all and opening the device")
    own = first_files(started)
    for _ in range(SETS):
        require_equal(started.run(words).shape, plain, "what a child does")
    await_sets(started, SETS + 1)
    require_equal(first_files(started), own, "files of the program")
    require_equal(started.ask("do", *f"{after} {end}".split()), 0, "using the device")
    finish(lab, started)


def delete(device, started):
    """Removes a device; the removal must not wait for the zygote."""
    start = time.monotonic()
    removal = subprocess.Popen(["rdma", "link", "delete", device])
    try:
        require_equal(removal.wait(20), 0, "exit status of the removal")
    except subprocess.TimeoutExpired:
        started.kill()
        removal.wait(20)
        raise Failure("sets hold up the removal of the device") from None
    require(time.monotonic() - start <= REMOVAL_S, "the removal of the device took long")


def add(device, netdev):
    subprocess.run(["rdma", "link", "add", device, "type", "rxe", "netdev", netdev], check=True)


def removal(lab):
    netdev = places.netdev()
    plain = plainly(lab, PLAIN)
    started = taught(lab, PLAIN)
    try:
        delete(places.DEVICE, started)
        require_equal(started.run("open").shape[1], ["open failed: ENODEV"], "a child without a device")
    finally:
        add(places.DEVICE, netdev)
    require(resources.until(places.has_address, 10), "the device did not come back")
    for _ in range(2):
        require_equal(started.run(PLAIN).shape, plain[0], "what a child does with the new device")
    await_sets(started, SETS)
    child = started.run(PLAIN)
    check_ready(child, started)
    finish(lab, started)


def two_devices(lab):
    words = f"{INIT} {INIT.replace('open', 'open:device=1').replace('qp:rc', 'qp:rc,cq=1')} {WORK}"
    subprocess.run(["ip", "link", "add", "lab-second", "type", "dummy"], check=True)
    try:
        subprocess.run(["ip", "address", "add", "192.0.2.77/24", "dev", "lab-second"], check=True)
        subprocess.run(["ip", "link", "set", "lab-second", "up"], check=True)
        add("rxe_second", "lab-second")
        two_devices_of(lab, words)
    finally:
        subprocess.run(["rdma", "link", "delete", "rxe_second"], check=False)
        subprocess.run(["ip", "link", "delete", "lab-second"], check=False)


def two_devices_of(lab, words):
    first, second = PLAIN, PLAIN.replace("open", "open:device=1")
    plain = plainly(lab, first, second, words)
    started = lab.start_zygote(warm=True)
    for _ in range(4):
        for one, shape in zip((first, second, words), plain):
            require_equal(started.run(one).shape, shape, "what a child does")
    require(trace.opens(trace.read(started.trace_path), trace.PREFORKED), "nothing was ready")
    delete("rxe_second", started)
    require_equal(started.run(first).shape, plain[0], "what a child does without the second device")
    require_equal(started.end(), 0, "exit status of the zygote")


REQUESTS = 8


def ask_python(lab, way, **kwargs):
    running = lab.start([PYTHON, "-B", ANSWER, way, str(REQUESTS)], **kwargs)
    for _ in range(REQUESTS):
        running.proceed()
    return running.wait()


def python(way):
    def run(lab):
        if subprocess.run([PYTHON, "-c", "import pyverbs"], check=False, capture_output=True).returncode:
            raise Skip("python3-pyverbs is not installed")
        plain = ask_python(lab, way)
        require_equal(plain.status, 0, "exit status without warmverbs")
        warm = ask_python(lab, way, warm=True, env={"WARMVERBS_PREFORK": str(SETS)})
        same(plain, warm, "exact")
        require(trace.opens(warm.events, trace.PREFORKED), "nothing was ready")
    return run


def prefork_server(lab):
    # A worker serves two requests, so there are 32 workers. On a slow machine the first ten or so find no set ready.
    clients, requests = 2, 32
    outcomes = []
    for warm in (False, True):
        path = str(lab.folder / f"server-{warm}")
        program = lab.build.program("prefork")
        words = [program, "serve", path, "3", "2", str(clients * requests)]
        server = lab.start(words, warm, {"WARMVERBS_PREFORK": str(SETS)} if warm else None, "server")
        server.await_text("listening")
        asking = [lab.start([program, "ask", path, str(requests)], name="client") for _ in range(clients)]
        outcomes.append([running.wait().exact() for running in (*asking, server)])
    require_equal(outcomes[1], outcomes[0], "what server and clients say")
    require_equal([status for status, _ in outcomes[0]], [0, 0, 0], "exit statuses")
    require(trace.opens(trace.read(server.trace_path), trace.PREFORKED), "nothing was ready")


def cases():
    yield from (Case(TOPIC, f"no system call up to INIT: {name}", silent(*shape)) for name, shape in SHAPES.items())
    yield from (Case(TOPIC, f"differing: {name}", otherwise(*words)) for name, words in OTHERWISE.items())
    yield from (Case(TOPIC, f"children that {name}", odd(words)) for name, words in ODD.items())
    yield from (Case(TOPIC, name, run) for name, run in [
        ("more children than sets", more_than_sets),
        ("more children than sets, with a daemon", more_than_sets_with_leases),
        ("the zygote ends before its children", zygote_gone(lambda started: started.end())),
        ("the zygote is killed before its children", zygote_gone(lambda started: started.kill())),
        ("300 children, some killed", storm),
        ("the zygote opens its device at numbers of sets", reopened),
        ("the device is removed while sets wait", removal),
        ("two devices", two_devices),
        ("Python's pool of processes", python("pool")),
        ("Python's processes", python("processes")),
        ("a pre-fork server", prefork_server),
    ])
