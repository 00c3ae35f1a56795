# SPDX-License-Identifier: BSD-2-Clause
"""Peers that break the protocol: a daemon that answers nonsense, clients that send it."""

import contextlib
import itertools
import os
import random
import socket
import struct

from support import trace, wire
from support.cases import attempts

from . import places, resources
from .cases_faults import check_plain, check_right, check_serves, objects, start_at, with_leases
from .report import Case, Failure, require_equal

TOPIC = "wire"
SILENT = 200
FLOOD = 3000


def patched(data, at, layout, value):
    return data[:at] + struct.pack(layout, value) + data[at + struct.calcsize(layout):]


CMDLOG = wire.LEASE_HEAD
STEP = CMDLOG + 24
ATTR = STEP + 48


def extra_fd(data, fds):
    return data, [*fds, os.open("/dev/null", os.O_RDONLY)]


def many_fds(data, fds):
    return data, [*fds, *(os.open("/dev/null", os.O_RDONLY) for _ in range(60))]


def one_fd_less(data, fds):
    os.close(fds[-1])
    return data, fds[:-1]


def no_fds(data, fds):
    wire.close_all(fds)
    return data, []


def other_kind_of_file(data, fds):
    os.close(fds[0])
    return data, [os.open("/dev/null", os.O_RDWR), *fds[1:]]


def header_only(data, fds):
    return wire.with_length(data[:16]), fds


def cut(n):
    return lambda data, fds: (wire.with_length(data[:n]), fds)


def put(at, layout, value):
    return lambda data, fds: (patched(data, at, layout, value), fds)


# How a good lease is changed on its way to the program.
SPOILED = [
    ("another version", put(4, "<H", wire.VERSION + 1)),
    ("another magic", put(0, "<I", 1)),
    ("a message of an unknown type", put(6, "<H", 99)),
    ("a request in answer", put(6, "<H", wire.REQUEST)),
    ("a wrong length", put(8, "<I", 1 << 30)),
    ("a header and no more", header_only),
    ("a lease without a command log", cut(CMDLOG)),
    ("half a command log header", cut(CMDLOG + 10)),
    ("a command log that is cut off", lambda data, fds: (wire.with_length(data[:-40]), fds)),
    ("a message that is cut off", lambda data, fds: (data[:-40], fds)),
    ("trailing bytes", lambda data, fds: (wire.with_length(data + bytes(64)), fds)),
    ("a command log of another kind", put(CMDLOG + 6, "<H", 1)),
    ("a command log of another format", put(CMDLOG + 4, "<H", 9)),
    ("a command log of a wrong size", put(CMDLOG + 8, "<I", 1 << 20)),
    ("more steps than there are", put(CMDLOG + 12, "<H", 500)),
    ("too many descriptors on the command log", put(CMDLOG + 14, "<H", 31)),
    ("a step of no size", put(STEP, "<I", 0)),
    ("a step of a huge size", put(STEP, "<I", 0xfffffff8)),
    ("a step of an odd size", put(STEP, "<I", 41)),
    ("a step of an unknown class", put(STEP + 13, "<B", 200)),
    ("a step with too many attributes", put(STEP + 12, "<B", 255)),
    ("an attribute of an unknown kind", put(ATTR + 5, "<B", 200)),
    ("an attribute whose payload is elsewhere", put(ATTR + 8, "<I", 1 << 20)),
    ("an attribute of an unknown command", put(STEP + 4, "<H", 99)),
    ("an attribute that is huge", put(ATTR + 2, "<H", 0xffff)),
    ("a descriptor less", one_fd_less),
    ("a descriptor more", extra_fd),
    ("sixty descriptors more", many_fds),
    ("no descriptors", no_fds),
    ("another number of descriptors", put(wire.N_FDS_AT, "<I", 7)),
    ("another provider", put(wire.PROVIDER_AT, "<Q", 1)),
    ("another device", put(24, "<Q", 0x1234)),
    ("a file that is not a device", other_kind_of_file),
]


def real_lease(lab, data, fds):
    """The real daemon's answer to a program's request."""
    with wire.connect(lab.daemon.socket) as sock:
        wire.send(sock, data, fds)
        return wire.receive(sock)


def each(rows, begin):
    """A case with one daemon for all rows, (name, ...). begin(lab) yields what checks the rest of a row. The first row
    that fails ends the case, which names it: its daemon may be gone."""
    def run(lab):
        with_leases(lab)
        with begin(lab) as check:
            for name, *row in rows:
                try:
                    lab.daemon.await_leases()
                    check(*row)
                except Failure as failure:
                    raise Failure(f"{name}: {failure}") from failure
    return run


@contextlib.contextmanager
def between(lab, answer):
    """A fake daemon between programs and the real one; their environment."""
    folder = lab.folder / "fake"
    folder.mkdir()
    fake = wire.FakeDaemon(folder, answer, (lab.socket.parent / "providers").read_text())
    try:
        yield {"WARMVERBS_SOCKET": str(folder / "socket")}
    finally:
        fake.stop()


@contextlib.contextmanager
def answered(lab):
    """Whatever a daemon answers, the program gets plain verbs and no extra descriptor."""
    plain = start_at(lab, "done")
    expected = len(resources.descriptors(plain.pid)) + 1  # the trace file
    plain.proceed()
    answers = []

    def check(make_answer):
        answers.append(make_answer)
        running = start_at(lab, "done", warm=True, more=environment)
        files = resources.descriptors(running.pid)
        running.proceed()
        require_equal(len(files), expected, f"number of descriptors of the program: {files}")
        check_plain(running.wait())

    with between(lab, lambda data, fds: answers[-1](lab, data, fds)) as environment:
        yield check


def spoiled(spoil):
    return lambda lab, data, fds: spoil(*real_lease(lab, data, fds))


def noise(data, _fds):
    return random.Random(1).randbytes(len(data)), []


def passed_on(lab):
    """A lease that arrives too late, as on a busy machine, was used by nobody: then the next program has to record."""
    with_leases(lab)
    with between(lab, lambda data, fds: real_lease(lab, data, fds)) as environment:
        for _ in attempts():
            result = objects(lab, warm=True, more=environment)
            check_right(result)
            if trace.opens(result.events, trace.ADOPTED):
                return
            lab.daemon.await_leases()
    raise Failure("there was no lease")


ANSWERS = [
    ("the daemon hangs up", lambda lab, data, fds: None),
    ("the daemon is a newer one", lambda lab, data, fds: (wire.no_lease(version=wire.VERSION + 1), [])),
    ("the daemon sends noise", lambda lab, data, fds: noise(data, fds)),
    ("the daemon sends a byte", lambda lab, data, fds: (b"x", [])),
    ("the daemon has an unknown reason", lambda lab, data, fds: (wire.no_lease(77), [])),
    ("the daemon puts off again and again", lambda lab, data, fds: (wire.no_lease(wire.LATER), [])),
    ("the daemon sends descriptors with no lease",
     lambda lab, data, fds: (wire.no_lease(2), [os.dup(fds[0])])),
]


def node():
    return os.open(places.node(), os.O_RDWR | os.O_CLOEXEC)


def path_only():
    return os.open(places.node(), os.O_PATH)


def read_only():
    return os.open(places.node(), os.O_RDONLY)


def null():
    return os.open("/dev/null", os.O_RDWR)


# What a client sends, and the descriptors with it.
HOSTILE = [
    ("nothing", None, []),
    ("a byte", b"x", []),
    ("another version", wire.request(version=wire.VERSION + 1), [node]),
    ("another magic", wire.request(magic=7), [node]),
    ("a wrong length", wire.request(claimed=1 << 30), [node]),
    ("a request without descriptor", wire.request(), []),
    ("a request with two", wire.request(), [node, node]),
    ("a request with fifty", wire.request(), [null] * 50),
    ("a request with another file", wire.request(), [null]),
    ("a request with an O_PATH descriptor", wire.request(), [path_only]),
    ("a request with a read-only descriptor", wire.request(), [read_only]),
    ("a short request", wire.message(wire.REQUEST, b"short"), [node]),
    ("a long request", wire.message(wire.REQUEST, bytes(1000)), [node]),
    ("a lease", wire.message(wire.LEASE, bytes(200)), [node]),
    ("a recording that nobody asked for", wire.message(wire.RECORD, bytes(200)), []),
    ("a report that nobody asked for", wire.message(wire.REPORT, bytes(32)), []),
    ("a question that is no JSON", wire.message(wire.CONTROL, b"{{{{"), []),
    ("a question of no known kind", wire.message(wire.CONTROL, b'{"command": "explode"}'), []),
    ("deep JSON", wire.message(wire.CONTROL, b"[" * 50000), []),
    ("a question with a descriptor", wire.message(wire.CONTROL, b"{}"), [node]),
]

# What a client sends as its recording, after it was told to record.
RECORDINGS = [
    ("nothing", b""),
    ("zeros", bytes(4096)),
    ("noise", random.Random(2).randbytes(4096)),
    ("a command log that claims too much",
     bytes(24) + struct.pack("<IHHIHHII", 0x45504154, 2, 1, 1 << 20, 500, 0, 15, 0) + bytes(400)),
]


def send_to(lab, data, makers):
    fds = [make() for make in makers]
    with wire.connect(lab.daemon.socket) as sock:
        if data is not None:
            try:
                wire.send(sock, data, fds)
                wire.close_all(wire.receive(sock)[1])
            except (OSError, TimeoutError):
                pass
    wire.close_all(fds)


@contextlib.contextmanager
def hostile(lab):
    def check(data, makers):
        for _ in range(3):
            send_to(lab, data, makers)
        check_serves(lab)
    yield check


@contextlib.contextmanager
def recorded(lab):
    programs = itertools.count()

    def check(body):
        with wire.connect(lab.daemon.socket) as sock:
            fds = [node()]
            wire.send(sock, wire.request(b"unheard of %d" % next(programs)), fds)
            wire.close_all(fds)
            require_equal(wire.no_lease_reason(wire.receive(sock)[0]), wire.PLEASE_RECORD,
                          "the daemon's answer")
            wire.send(sock, wire.message(wire.RECORD, body))
        check_serves(lab)
    yield check


def silent(lab):
    """After many silent clients have gone, others are served."""
    with_leases(lab)
    socks = []
    for _ in range(SILENT):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        sock.setblocking(False)
        try:
            sock.connect(str(lab.daemon.socket))
        except OSError:
            pass
        socks.append(sock)
    check_right(objects(lab, warm=True))
    for sock in socks:
        sock.close()
    check_serves(lab)


def flood(lab):
    """Messages of all kinds, faster than the daemon can answer; the client reads no answers."""
    with_leases(lab)
    dice = random.Random(3)
    for _ in range(FLOOD // 100):
        fd = node()
        with wire.connect(lab.daemon.socket) as sock:
            sock.setblocking(False)
            for _ in range(100):
                body = dice.randbytes(dice.randrange(200))
                data = dice.choice([body, wire.message(dice.randrange(9), body), wire.request()])
                try:
                    wire.send(sock, data, [fd] * dice.randrange(3))
                except OSError:
                    break
        os.close(fd)
    check_serves(lab)


def cases():
    yield Case(TOPIC, "a lease that is passed on whole", passed_on)
    yield Case(TOPIC, "leases that are spoiled", each([(name, spoiled(spoil)) for name, spoil in SPOILED], answered))
    yield Case(TOPIC, "answers that are no leases", each(ANSWERS, answered))
    yield Case(TOPIC, "messages of hostile clients", each(HOSTILE, hostile))
    yield Case(TOPIC, "recordings that are none", each(RECORDINGS, recorded))
    yield Case(TOPIC, f"{SILENT} silent clients", silent)
    yield Case(TOPIC, f"a flood of {FLOOD} messages", flood)
