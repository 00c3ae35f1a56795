# SPDX-License-Identifier: BSD-2-Clause
"""A client that says what no preload says: hostile.py SOCKET SEED TIMES. A program of its own, so that any user may be
hostile. It only fails if it can't be hostile."""

import contextlib
import os
import random
import struct
import sys
import time

import wire


def noise(r):
    return r.randbytes(r.randrange(1, 300)), []


def wrong_header(r):
    options = r.choice(({"version": r.randrange(9)}, {"magic": r.getrandbits(32)}, {"claimed": r.getrandbits(31)}))
    return wire.request(b"hostile", **options), []


def unknown_kind(r):
    return wire.message(r.randrange(1 << 16), r.randbytes(r.randrange(64))), []


def no_proof(r):
    return wire.request(b"hostile"), [os.open("/dev/null", os.O_RDWR) for _ in range(r.randrange(3))]


def wrong_proof(_r):
    ends = os.pipe()
    return wire.request(b"hostile"), list(ends)


def garbled_record(r):
    return wire.message(wire.RECORD, b"v" * 20 + r.randbytes(r.randrange(4000))), []


def garbled_report(r):
    return wire.message(wire.REPORT, r.randbytes(r.randrange(200))), []


def garbled_question(r):
    return wire.message(wire.CONTROL, r.choice((b"{", b"{}", b'{"op":"status"', b'{"op":7}', r.randbytes(50)))), []


def garbled_pool(r):
    return wire.message(wire.POOL, r.randbytes(r.choice((4, 100, 116)))), []


def server_message(r):
    return wire.message(r.choice((wire.LEASE, wire.NO_LEASE, wire.POOL_STATE)), struct.pack("<II", 1, 1)), []


KINDS = (noise, wrong_header, unknown_kind, no_proof, wrong_proof, garbled_record, garbled_report, garbled_question,
         garbled_pool, server_message)


def speak(r, path):
    """Perhaps waits for the answer; perhaps says more after it; perhaps says nothing at all."""
    with wire.connect(path) as sock:
        sock.settimeout(0.2)
        for _ in range(r.randrange(3)):
            data, fds = r.choice(KINDS)(r)
            try:
                wire.send(sock, data, fds)
            finally:
                wire.close_all(fds)
            if r.random() < 0.5:
                wire.close_all(wire.receive(sock)[1])
        if r.random() < 0.1:
            time.sleep(0.2)


def main():
    path, seed, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    r = random.Random(seed)
    for _ in range(times):
        with contextlib.suppress(OSError):  # The daemon hangs up, or is not there.
            speak(r, path)


if __name__ == "__main__":
    main()
