# SPDX-License-Identifier: BSD-2-Clause
"""What is said of services (src/wire/service_note.h), by hand: as a process, and as the daemon of a peer."""

import dataclasses
import struct

from . import peering, wire

OFFER, OFFERED, ASK, MADE, REFUSED, GONE, STILL, MAKING = range(1, 9)
FRAME = peering.FIRST_MESSAGE + 1  # src/daemon/peers/frame.h
SHORT = 24  # bytes of notes between daemons whose word needs no more
OWN, PEERS = (struct.Struct(order + "HHIQQ32s32s32s16s16sIIHBBI96s196s4x") for order in "<>")
WAIT_S = 60
SILENCE_S = 0.3  # in which nothing comes


@dataclasses.dataclass
class Note:
    word: int
    error: int = 0
    data_bytes: int = 0
    number: int = 0
    own: int = 0  # "from": as the sender calls the connection
    name: bytes = b""
    user: bytes = b""
    client_user: bytes = b""
    node: bytes = bytes(16)
    gid: bytes = bytes(16)
    qp_num: int = 0
    psn: int = 0
    lid: int = 0
    mtu: int = 3
    reads: int = 1
    n_regions: int = 0
    regions: bytes = b""
    data: bytes = b""

    def frame(self):
        """As a peer says it."""
        body = PEERS.pack(*dataclasses.astuple(self))
        return peering.frame(FRAME, body if self.word in (ASK, MAKING) else body[:SHORT])

    def packed(self):
        """As a process says it."""
        return wire.message(wire.SERVICE, OWN.pack(*dataclasses.astuple(self)))


def of_peer(body):
    return Note(*PEERS.unpack(body.ljust(PEERS.size, b"\0")))


def unsound():
    """Notes that nobody sends, with what is wrong with them."""
    for word in (0, 9, 0xffff):
        yield f"word {word}", Note(word)
    for name, value in (("error", 4096), ("data_bytes", 197), ("data_bytes", 1 << 31), ("n_regions", 5),
                        ("qp_num", 1 << 24), ("psn", 1 << 24), ("name", b"x" * 32), ("user", b"x" * 32),
                        ("client_user", b"x" * 32)):
        yield f"{name} {value}", Note(ASK, own=1, **{name: value})


class Process:
    """A process that speaks to the daemon by hand."""

    def __init__(self, path):
        self.sock = wire.connect(path)
        self.sock.settimeout(WAIT_S)

    def say(self, word, **more):
        self.sock.send(Note(word, **more).packed())

    def offer(self, name=b"store", users=b""):
        """What comes of it."""
        self.say(OFFER, own=1, name=name, data=users, data_bytes=len(users))
        return self.hear().word

    def ask(self, own=1, **more):
        self.say(ASK, own=own, **{"name": b"store", "qp_num": 5, **more})

    def answer(self, number, qp_num=9, **more):
        """A question, as a service."""
        self.say(MAKING, number=number, qp_num=qp_num, **more)
        self.say(MADE, number=number)

    def hear(self):
        """The next note; None: the daemon has closed the connection."""
        try:
            data = self.sock.recv(4096)
        except ConnectionResetError:
            return None
        return Note(*OWN.unpack_from(data, wire.HEADER.size)) if data else None

    def hear_all(self):
        """What comes until nothing does."""
        self.sock.settimeout(SILENCE_S)
        heard = []
        try:
            while note := self.hear():
                heard.append(note)
        except TimeoutError:
            pass
        self.sock.settimeout(WAIT_S)
        return heard

    def is_closed(self):
        """Reads until the daemon closes the connection, and so waits for it."""
        try:
            while self.hear():
                pass
        except TimeoutError:
            return False
        return True

    def close(self):
        self.sock.close()
