# SPDX-License-Identifier: BSD-2-Clause
"""What programs send to a daemon as their recordings: captured from real programs, and changed.

A recording is the body of a message WV_MSG_RECORD (src/wire/wire.h): the provider, then a command log of form WV_RECORD
(src/cmdlog/cmdlog.h).
"""

import contextlib
import socket
import struct
import subprocess

from . import bed, cases, processes, wire

PROVIDER_BYTES = 24
LOG = struct.Struct("<IHHIHHII")
LOG_BYTES_AT, LOG_STEPS_AT = 8, 12
STEP_BYTES, ATTR_BYTES = 48, 16
CLASS_AT, CREATE, CONSTANT = 13, 0, 1
OUTPUT = 1  # kind of an attribute
SHORT = 16   # bytes of an answer that the device still gives
ATTR = struct.Struct("<HHBBBBII")
MAX_STEPS = 512
MAX_LOG_BYTES = 96 * 1024

SMALL = "open pd cq qp:rc move:init"
LONG = "open pd " + "cq qp:rc " * 30
DEAR = "open cq:depth=131071"  # 8 MiB of queue


def capture(words, folder, providers):
    """What the program of @words sends when a daemon asks it to record; @providers: text of a daemon's list of them."""
    folder.mkdir()
    (folder / "providers").write_text(providers)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.settimeout(bed.LIMIT_S)
        listener.bind(str(folder / "socket"))
        listener.listen()
        for _ in cases.attempts():
            data = _record(listener, words, folder)
            if data:
                return data[wire.HEADER.size:]
    raise AssertionError(f"no recording of '{words}'")


def _record(listener, words, folder):
    """The message with the recording; none if the answer came too late for the program."""
    env = bed.environment(bed.WORDS, True, {"WARMVERBS_SOCKET": str(folder / "socket")})
    with subprocess.Popen([bed.WORDS, *words.split()], env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as program:
        client, _ = listener.accept()
        data = b""
        with client, contextlib.suppress(ConnectionError):
            client.settimeout(bed.LIMIT_S)
            wire.close_all(wire.receive(client)[1])
            wire.send(client, wire.no_lease())
            data, _ = wire.receive(client)
        processes.wait(program, bed.LIMIT_S)
    return data


def split(recording):
    """The provider, the head of the command log, and its steps."""
    at = PROVIDER_BYTES + LOG.size
    provider, head, steps = recording[:PROVIDER_BYTES], recording[PROVIDER_BYTES:at], []
    while at < len(recording):
        size, = struct.unpack_from("<I", recording, at)
        steps.append(recording[at:at + size])
        at += size
    return provider, head, steps


def join(provider, head, steps):
    magic, form, kind, _, _, *rest = LOG.unpack(head)
    size = LOG.size + sum(map(len, steps))
    return provider + LOG.pack(magic, form, kind, size, len(steps), *rest) + b"".join(steps)


def _attrs(step):
    """Each attribute's place in the step, and its fields."""
    for i in range(step[12]):
        at = STEP_BYTES + ATTR_BYTES * i
        yield at, ATTR.unpack_from(step, at)


def _input(step):
    """Where the longer input of a step begins, and how long it is; None if it has none."""
    for _, (_, size, _, _, _, _, payload, _) in _attrs(step):
        if payload and size > 8:
            return payload, size
    return None


def _question(model, junk):
    """The query of the step @model, with @junk in what is reserved of its input, and with a short answer."""
    step = bytearray(model)
    at, size = _input(model)
    # The first 8 bytes say which query it is.
    step[at + 8:at + size] = junk.ljust(size - 8, b"\0")[:size - 8]
    for place, (name, _, flags, kind, *rest) in _attrs(model):
        if kind == OUTPUT:
            ATTR.pack_into(step, place, name, SHORT, flags, kind, *rest)
    return bytes(step)


def with_questions(recording, mark, n):
    """@recording with up to @n more queries of the device, each different, with @mark in their inputs."""
    provider, head, steps = split(recording)
    model = next(step for step in steps if step[CLASS_AT] == CONSTANT and _input(step))
    room = min(n, MAX_STEPS - len(steps), (MAX_LOG_BYTES - len(recording)) // len(model))
    steps += [_question(model, mark + struct.pack("<I", i)) for i in range(room)]
    return join(provider, head, steps)
