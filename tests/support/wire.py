# SPDX-License-Identifier: BSD-2-Clause
"""The protocol of src/wire/wire.h, by hand: messages of a client, and a fake daemon."""

import json
import os
import socket
import struct
import threading

MAGIC, VERSION = 0x42525657, 8
(REQUEST, LEASE, NO_LEASE, RECORD, REPORT, CONTROL, POOL, POOL_STATE, PAIR, CONNECTED, PAIR_GONE,
 SERVICE) = range(1, 13)
PLEASE_RECORD, EMPTY, LATER = 1, 2, 5
PAIRS = 2  # enum wv_answer_flag
HEADER = struct.Struct("<IHHII")
LEASE_HEAD = 104  # sizeof(struct wv_msg_lease); the command log follows
N_FDS_AT, PROVIDER_AT = 52, 32
MAX_BYTES, MAX_FDS = 1 << 20, 250


def message(kind, body=b"", version=VERSION, magic=MAGIC, claimed=None):
    size = HEADER.size + len(body)
    return HEADER.pack(magic, version, kind, size if claimed is None else claimed, 0) + body


def _program(name, open_number=0):
    return (b"p" * 20 + b"v" * 20 + struct.pack("<QII", 1, open_number, 0) + b"python".ljust(16, b"\0") +
            name.ljust(32, b"\0"))


def request(name=b"by hand", open_number=0, **more):
    return message(REQUEST, _program(name, open_number), **more)


def record(recording):
    """A recording as recordings.capture() returns it."""
    return message(RECORD, recording)


def report():
    """After a lease, of a program that did nothing."""
    return message(REPORT, bytes(48))


def pool(name, leases):
    return message(POOL, _program(name) + struct.pack("<II", leases, 0))


def question(**words):
    return message(CONTROL, json.dumps(words).encode())


def answer(data, fds):
    """The answer to a question: a document, in the message or, if it is long, in the memory that the message brings."""
    if not data:
        raise ConnectionResetError("disconnected")
    if not fds:
        return json.loads(data[HEADER.size:])
    with open(fds[0], encoding="utf-8") as memory:
        return json.load(memory)


def no_lease(reason=PLEASE_RECORD, flags=0, **more):
    return message(NO_LEASE, struct.pack("<II", reason, flags), **more)


def pool_state(granted=4, ready=0, **more):
    return message(POOL_STATE, struct.pack("<II", granted, ready), **more)


def kind_of(data):
    return HEADER.unpack_from(data)[2]


def no_lease_reason(data):
    """Why there is no lease. Answers that are the same for all programs may follow the reason."""
    magic, version, kind, size, _ = HEADER.unpack_from(data)
    if (magic, version, kind, size) != (MAGIC, VERSION, NO_LEASE, len(data)):
        return None
    return struct.unpack_from("<I", data, HEADER.size)[0]


def with_length(data):
    """The message with the right size in its header."""
    return data[:8] + struct.pack("<I", len(data)) + data[12:]


def connect(path):
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.settimeout(5)
    try:
        sock.connect(str(path))
    except OSError:
        sock.close()
        raise
    return sock


def connect_at_once(path):
    """As the library connects, first by the user's own socket; raises OSError instead of waiting."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    sock.setblocking(False)
    try:
        if sock.connect_ex(f"{path}.users/{os.geteuid()}"):
            sock.connect(str(path))
    except OSError:
        sock.close()
        raise
    return sock


def receive(sock):
    """A message and its descriptors."""
    data, fds, _, _ = socket.recv_fds(sock, MAX_BYTES, MAX_FDS)
    return data, fds


def send(sock, data, fds=()):
    if fds:
        socket.send_fds(sock, [data], fds)
    else:
        sock.send(data)


class FakeDaemon:
    """Listens like a daemon; the function answer(data, fds) answers requests."""

    def __init__(self, folder, answer, provider_list):
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._listener.bind(str(folder / "socket"))
        self._listener.listen(64)
        (folder / "providers").write_text(provider_list)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with client:
                self._talk(client)

    def _talk(self, client):
        client.settimeout(5)
        try:
            answer = self._answer_to(*receive(client))
            if answer is None:
                return
            try:
                send(client, *answer)
            finally:  # The program may have given up and ended.
                close_all(answer[1])
            receive(client)  # Until the program closes.
        except (OSError, TimeoutError):
            pass

    def _answer_to(self, data, fds):
        try:
            return self._answer(data, fds)
        finally:
            close_all(fds)

    def stop(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


def close_all(fds):
    for fd in fds:
        os.close(fd)
